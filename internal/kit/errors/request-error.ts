/** Reasons to refuse a request. internal/intake/http/problem.ts maps each to an HTTP status. */
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
 * A fault of a request, located by a JSON pointer (RFC 6901) into the body, or by the name of a
 * header or of a parameter of the address.
 */
export type FieldError =
  { pointer: string; detail: string } | { header: string; detail: string } | { parameter: string; detail: string };

/** The only error that callers see. `detail` is for them, and reveals nothing internal. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: RequestErrorCode;
  readonly faults: readonly FieldError[];
  /** Headers of the answer, in addition to those of its code. */
  readonly headers: Readonly<Record<string, string>>;

  /** @param cause the underlying error, for logs only. */
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

/** Why a request cannot be served now; label values of `runledger_rejections_total`. */
export const rejectionReasons = [
  'not-checked',
  'redis-unreachable',
  'redis-replica',
  'redis-not-durable',
  'redis-replicas',
  'redis-memory',
  'idempotency-keys',
  'backlog',
  'buffer-full',
  'commit-failed',
  'unacknowledged',
  'open-runs',
  'tokens-not-loaded',
  'under-way',
  'other',
] as const;
export type RejectionReason = (typeof rejectionReasons)[number];

/** A request that cannot be served now: 503. Callers retry after `Retry-After`. */
export class Unavailable extends RequestError {
  readonly reason: RejectionReason;
  /** How many events the request holds; 1 if its body was not read. */
  readonly events: number;

  /** @param cause the underlying error, for logs only. */
  constructor(detail: string, reason: RejectionReason, events = 1, cause?: unknown) {
    super('unavailable', detail, [], cause);
    this.reason = reason;
    this.events = events;
  }
}

/** Returns the error for a request that cannot be served now. */
export function unavailable(detail: string, cause?: unknown): Unavailable {
  return new Unavailable(detail, 'other', 1, cause);
}
