import { randomFillSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';

/** Visible ASCII, and not so long that it would flood the log. */
const acceptable = /^[\x21-\x7e]{1,128}$/;

/** W3C Trace Context: version, trace id, parent id, flags. */
const traceparent = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/;

/**
 * Finds ids for requests, by which their callers and their log records can be brought together: the one that it brings in
 * `X-Request-Id`, else the trace id of its `traceparent`, else a new one. One per process.
 */
export function createRequestIds(): (request: IncomingMessage) => string {
  const next = createIds();
  return ({ headers }) => {
    const given = headers['x-request-id'];
    if (typeof given === 'string' && acceptable.test(given)) return given;
    const trace = headers['traceparent'];
    const traceId = typeof trace === 'string' ? traceparent.exec(trace)?.[1] : undefined;
    return traceId ?? next();
  };
}

/** The id of a request, which its answer returns as `X-Request-Id`. */
export function requestIdOf(ctx: Context): string {
  return String(ctx.state['requestId']);
}

/** 32 hexadecimal digits at random, as a trace id has. Drawn and written for 1,024 ids at once: one by one they take far longer. */
function createIds(): () => string {
  const drawn = Buffer.alloc(16_384);
  let digits = '';
  let used = 0;
  return () => {
    if (used === digits.length) {
      digits = randomFillSync(drawn).toString('hex');
      used = 0;
    }
    used += 32;
    return digits.slice(used - 32, used);
  };
}
