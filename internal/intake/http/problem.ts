import type { Context } from 'koa';
import { RequestError, type FieldError, type RequestErrorCode } from '../../kit/errors/request-error.ts';

/** A problem document (RFC 9457). `errors` lists the faults of the request. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  errors?: readonly FieldError[];
}

/**
 * Adds the codes that no {@link RequestError} has: defects, and requests that Node's parser
 * rejects.
 */
export type ProblemCode = RequestErrorCode | 'internal-error' | 'request-timeout' | 'headers-too-large';

/** The one place where a code becomes an HTTP status and a title. */
const kinds: Record<ProblemCode, { status: number; title: string }> = {
  'malformed-request': { status: 400, title: 'Malformed request' },
  'invalid-event': { status: 400, title: 'Invalid event' },
  unauthorized: { status: 401, title: 'Unauthorized' },
  'insufficient-scope': { status: 403, title: 'Insufficient scope' },
  'not-found': { status: 404, title: 'Not found' },
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  'request-timeout': { status: 408, title: 'Request Timeout' },
  'request-in-progress': { status: 409, title: 'Request in progress' },
  'payload-too-large': { status: 413, title: 'Payload too large' },
  'unsupported-media-type': { status: 415, title: 'Unsupported media type' },
  'idempotency-key-reused': { status: 422, title: 'Idempotency key reused' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  'headers-too-large': { status: 431, title: 'Request Header Fields Too Large' },
  'internal-error': { status: 500, title: 'Internal error' },
  unavailable: { status: 503, title: 'Temporarily unavailable' },
};

/**
 * Returns a problem document. Callers read `detail` and `errors`, which must reveal nothing
 * internal.
 */
export function problem(code: ProblemCode, detail: string, errors: readonly FieldError[] = []): Problem {
  const type = `https://runledger.dev/problems/${code}`;
  const { status, title } = kinds[code];
  return { type, title, status, detail, ...(errors.length > 0 && { errors }) };
}

/**
 * Returns the problem document of an error. Any error but a {@link RequestError} is a defect, of
 * which callers get no detail.
 */
export function problemOf(error: unknown): Problem {
  if (error instanceof RequestError) return problem(error.code, error.message, error.faults);
  return problem('internal-error', 'Something went wrong on our side. Please retry.');
}

/** Statuses after which a caller should retry, in `retryAfter` seconds. */
const passing = new Set([409, 429, 503]);
const retryAfter = 1;

/** The headers of an answer with a problem document. */
export function problemHeaders({ status }: Problem): Record<string, string> {
  return {
    'Content-Type': 'application/problem+json',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...challengeOf(status),
    ...(passing.has(status) && { 'Retry-After': String(retryAfter) }),
  };
}

/** The challenge of RFC 6750, section 3. RFC 9110, section 11.6.1 requires one with a 401. */
function challengeOf(status: number): Record<string, string> {
  if (status === 401) return { 'WWW-Authenticate': 'Bearer realm="runledger"' };
  if (status === 403) return { 'WWW-Authenticate': 'Bearer realm="runledger", error="insufficient_scope"' };
  return {};
}

/** Answers with the problem document of an error. */
export function answerProblem(ctx: Context, error: unknown): void {
  const document = problemOf(error);
  ctx.status = document.status;
  ctx.set({ ...problemHeaders(document), ...(error instanceof RequestError && error.headers) });
  ctx.body = JSON.stringify(document);
}
