/** Reasons to refuse a request. internal/api/problem.ts maps each to an HTTP status. */
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

/** A fault of a request: a JSON pointer (RFC 6901) into the body, or the name of a header. */
export type FieldError = { pointer: string; detail: string } | { header: string; detail: string };

/** The only error that callers see. `detail` is for them and must hold nothing internal. */
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
 * Returns the error for an event that cannot become durable now. Callers retry after `Retry-After`.
 */
export function unavailable(detail: string): RequestError {
  return new RequestError('unavailable', detail);
}
