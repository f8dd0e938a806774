import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';

/** Visible ASCII, and not so long that it would flood the log. */
const acceptable = /^[\x21-\x7e]{1,128}$/;

/** W3C Trace Context: version, trace id, parent id, flags. */
const traceparent = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/;

/**
 * The id that connects a request with its log records: the caller's `X-Request-Id`, else the trace id
 * of its `traceparent`, else a new one of 32 hexadecimal digits.
 */
export function identifyRequest({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  if (typeof given === 'string' && acceptable.test(given)) return given;
  const trace = headers['traceparent'];
  const traceId = typeof trace === 'string' ? traceparent.exec(trace)?.[1] : undefined;
  return traceId ?? randomUUID().replaceAll('-', '');
}

/** The id of a request, which its answer returns as `X-Request-Id`. */
export function requestIdOf(ctx: Context): string {
  return String(ctx.state['requestId']);
}
