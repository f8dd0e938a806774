import type Koa from 'koa';
import type { Context } from 'koa';
import compose from 'koa-compose';
import type { Handler, HttpStack } from '../http/http-stack.ts';
import { chooseRequestId, requestIdOf } from '../http/request-id.ts';

/**
 * Serves requests with the middleware of `app`, in place of `app.callback()`. Bodies must be texts.
 * Omits the listeners with which Koa detects broken connections on each response, since the server
 * already does.
 */
export function createHandler(app: Koa): Handler {
  const run = compose(app.middleware);
  return async (request, response) => {
    const ctx = app.createContext(request, response);
    ctx.state['requestId'] = chooseRequestId(request);
    response.statusCode = 404;
    try {
      await run(ctx);
      if (!response.headersSent) send(ctx);
    } catch (error) {
      ctx.onerror(error instanceof Error ? error : new Error('the thrown value is no error', { cause: error }));
    }
  };
}

/** Sends the headers and the body that the middleware set on the context. */
function send(ctx: Context): void {
  ctx.set('X-Request-Id', requestIdOf(ctx));
  ctx.res.end(ctx.method === 'HEAD' ? '' : ctx.body);
}

const json = 'application/json; charset=utf-8';

/**
 * Sends a JSON text immediately, without Koa's setters, which cost more CPU time than Node's whole
 * answer. Each answer has the `fixed` headers.
 */
export function sendJsonWith(fixed: Readonly<Record<string, string>>): HttpStack['sendJson'] {
  const always = Object.entries(fixed).flat();
  return (ctx, status, text, receiptId, ignoredFields) => {
    const length = String(Buffer.byteLength(text));
    const headers = ['X-Request-Id', requestIdOf(ctx), 'Content-Type', json, 'Content-Length', length, ...always];
    if (receiptId !== undefined) headers.push('Receipt-Id', receiptId);
    if (ignoredFields !== undefined) headers.push('Runledger-Ignored-Fields', ignoredFields);
    ctx.res.writeHead(status, headers).end(text);
  };
}
