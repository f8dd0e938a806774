import type { Context } from 'koa';
import { RequestError, type FieldError, type RequestErrorCode } from '../errors/request-error.ts';

/** RFC 9457. `errors` lists what is wrong with the request, by JSON pointer or header. */
interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  errors?: readonly FieldError[];
}

/** The one place where an error code becomes an HTTP status (design, section 2). */
const statuses: Record<RequestErrorCode, { status: number; title: string }> = {
  'malformed-request': { status: 400, title: 'Malformed request' },
  'invalid-event': { status: 400, title: 'Invalid event' },
  unauthorized: { status: 401, title: 'Unauthorized' },
  'not-found': { status: 404, title: 'Not found' },
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  'request-in-progress': { status: 409, title: 'Request in progress' },
  'payload-too-large': { status: 413, title: 'Payload too large' },
  'unsupported-media-type': { status: 415, title: 'Unsupported media type' },
  'idempotency-key-reused': { status: 422, title: 'Idempotency key reused' },
  unavailable: { status: 503, title: 'Temporarily unavailable' },
};

/** What a caller waits before it repeats a request, in seconds. */
export const retryAfter = 1;

/** The problem document of an error. Anything but a {@link RequestError} is a defect, of which callers learn nothing. */
export function problemOf(error: unknown): Problem {
  if (!(error instanceof RequestError)) {
    return problem('internal-error', 500, 'Internal error', 'Something went wrong on our side. Please retry.', []);
  }
  const { status, title } = statuses[error.code];
  return problem(error.code, status, title, error.message, error.faults);
}

/** Answers with an error. */
export function answerProblem(ctx: Context, error: unknown): void {
  const document = problemOf(error);
  ctx.status = document.status;
  ctx.set('Content-Type', 'application/problem+json');
  ctx.set('Cache-Control', 'no-store');
  // The scheme is the header `token` of the specification; RFC 9110, section 11.6.1 wants a challenge with a 401.
  if (document.status === 401) ctx.set('WWW-Authenticate', 'Token realm="runledger"');
  if (document.status === 503 || document.status === 409) ctx.set('Retry-After', String(retryAfter));
  ctx.body = JSON.stringify(document);
}

function problem(code: string, status: number, title: string, detail: string, errors: readonly FieldError[]): Problem {
  const type = `https://runledger.dev/problems/${code}`;
  return { type, title, status, detail, ...(errors.length > 0 && { errors }) };
}
