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
  | 'too-many-requests'
  | 'unavailable';

/**
 * A fault of a request: a JSON pointer (RFC 6901) into the body, or the name of a header or of a
 * parameter of the address.
 */
export type FieldError =
  { pointer: string; detail: string } | { header: string; detail: string } | { parameter: string; detail: string };

/** The only error that callers see. `detail` is for them and must hold nothing internal. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: RequestErrorCode;
  readonly faults: readonly FieldError[];
  /** Headers of the answer, beside those that its code has. */
  readonly headers: Readonly<Record<string, string>>;

  /** @param cause the error behind it, for logs only. */
  constructor(
    code: RequestErrorCode,
    detail: string,
    faults: readonly FieldError[] = [],
    cause?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail, { cause });
    this.code = code;
    this.faults = faults;
    this.headers = headers;
  }
}

/** Returns the error for a request that cannot be served now. Callers retry after `Retry-After`. */
export function unavailable(detail: string, cause?: unknown): RequestError {
  return new RequestError('unavailable', detail, [], cause);
}
