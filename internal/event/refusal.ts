/** Why a request is not served. One map in the API turns each into an HTTP status. */
export type RefusalCode =
  | 'malformed-request'
  | 'invalid-event'
  | 'unauthorized'
  | 'not-found'
  | 'method-not-allowed'
  | 'request-in-progress'
  | 'payload-too-large'
  | 'unsupported-media-type'
  | 'idempotency-key-reused'
  | 'unavailable';

/** One thing wrong with a request: a JSON pointer (RFC 6901) into the body, or the name of a header. */
export type Fault = { pointer: string; detail: string } | { header: string; detail: string };

/** The one error that callers get to see. `detail` is written for them and holds nothing internal. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: RefusalCode;
  readonly faults: readonly Fault[];

  constructor(code: RefusalCode, detail: string, faults: readonly Fault[] = []) {
    super(detail);
    this.code = code;
    this.faults = faults;
  }
}

/** The refusal of an event that cannot be made durable now; callers repeat it after `Retry-After`. */
export function unavailable(detail: string): Refusal {
  return new Refusal('unavailable', detail);
}
