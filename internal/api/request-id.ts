import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Context, Middleware } from 'koa';

/** Visible ASCII, and not so long that it would flood the log. */
const acceptable = /^[\x21-\x7e]{1,128}$/;

/** W3C Trace Context: version, trace id, parent id, flags. */
const traceparent = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/;

/**
 * Gives each request an id, by which its caller and its log records can be brought together: the one it brings in
 * `X-Request-Id`, else the trace id of its `traceparent`, else a new one. It is returned as `X-Request-Id`.
 */
export function identifyRequests(): Middleware {
  return (ctx, next) => {
    ctx.res.setHeader('X-Request-Id', requestIdOf(ctx.req));
    return next();
  };
}

/** The id of a request that {@link identifyRequests} has seen. */
export function answeredRequestId(ctx: Context): string {
  return String(ctx.res.getHeader('X-Request-Id'));
}

function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  if (typeof given === 'string' && acceptable.test(given)) return given;
  const trace = headers['traceparent'];
  const traceId = typeof trace === 'string' ? traceparent.exec(trace)?.[1] : undefined;
  return traceId ?? randomUUID();
}
