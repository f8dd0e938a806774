/** Why a request is not served. One map in the API turns each into an HTTP status. */
export type RequestErrorCode =
  | 'malformed-request'
  | 'invalid-event'
  | 'unauthorized'
  | 'insufficient-scope'
  | 'not-found'
  | 'method-not-allowed'
  | 'request-in-progress'
  | 'payload-too-large'
  | 'unsupported-media-type'
  | 'idempotency-key-reused'
  | 'unavailable';

/**
 * One thing wrong with a request: a JSON pointer (RFC 6901) into the body, or the name of a header.
 */
export type FieldError = { pointer: string; detail: string } | { header: string; detail: string };

/**
 * The one error that callers get to see. `detail` is written for them and holds nothing internal.
 */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: RequestErrorCode;
  readonly faults: readonly FieldError[];

  constructor(code: RequestErrorCode, detail: string, faults: readonly FieldError[] = []) {
    super(detail);
    this.code = code;
    this.faults = faults;
  }
}

/**
 * The refusal of an event that cannot be made durable now; callers repeat it after `Retry-After`.
 */
export function unavailable(detail: string): RequestError {
  return new RequestError('unavailable', detail);
}
