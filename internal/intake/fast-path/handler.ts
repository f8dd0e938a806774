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

/**
 * Sends texts immediately, without Koa's setters, which cost more CPU time than Node's whole
 * answer. Each answer has the `fixed` headers.
 */
export function sendWith(fixed: Readonly<Record<string, string>>): Pick<HttpStack, 'sendJson' | 'sendText'> {
  const always = Object.entries(fixed).flat();
  const headersOf = (ctx: Context, type: string, text: string | Buffer): string[] => {
    const length = String(Buffer.byteLength(text));
    const mime = `${type}; charset=utf-8`;
    return ['X-Request-Id', requestIdOf(ctx), 'Content-Type', mime, 'Content-Length', length, ...always];
  };
  return {
    sendJson: (ctx, status, text, receiptId, ignoredFields) => {
      const headers = headersOf(ctx, 'application/json', text);
      if (receiptId !== undefined) headers.push('Receipt-Id', receiptId);
      if (ignoredFields !== undefined) headers.push('Runledger-Ignored-Fields', ignoredFields);
      ctx.res.writeHead(status, headers).end(text);
    },
    sendText: (ctx, text, more) => {
      const headers = headersOf(ctx, 'text/plain', text);
      for (const name in more) headers.push(name, more[name] ?? '');
      ctx.res.writeHead(200, headers).end(ctx.method === 'HEAD' ? '' : text);
    },
  };
}
