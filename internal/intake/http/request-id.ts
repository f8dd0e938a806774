import type { IncomingMessage } from 'node:http';
import type { Context, Middleware } from 'koa';
import { createRandomSource } from '../../kit/random-source.ts';

const random = createRandomSource(16);

/** Visible ASCII, short enough for a log line. */
const acceptable = /^[\x21-\x7e]{1,128}$/;

/** W3C Trace Context: version, trace id, parent id, flags. */
const traceparent = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/;

/**
 * Returns the id that joins the caller's logs with ours: the `X-Request-Id` of the request, else
 * the trace id of its `traceparent`, else 32 random hexadecimal digits.
 */
export function chooseRequestId({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  if (typeof given === 'string' && acceptable.test(given)) return given;
  const trace = headers['traceparent'];
  const traceId = typeof trace === 'string' ? traceparent.exec(trace)?.[1] : undefined;
  return traceId ?? random().toString('hex');
}

/** Sets the id of each request on the context, and on its answer as `X-Request-Id`. */
export const identifyRequests: Middleware = (ctx, next) => {
  const id = chooseRequestId(ctx.req);
  ctx.state['requestId'] = id;
  ctx.set('X-Request-Id', id);
  return next();
};

/** Returns the id of the request from its context. */
export function requestIdOf(ctx: Context): string {
  return String(ctx.state['requestId']);
}
