import type { IncomingMessage, ServerResponse } from 'node:http';
import type Koa from 'koa';
import type { Context } from 'koa';
import compose from 'koa-compose';
import { identifyRequest, requestIdOf } from './request-id.ts';

/** Takes a request and answers it. Never rejects. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Serves requests with the middleware of `app`, whose bodies are texts. In place of `app.callback()`, which watches each
 * answer and its connection with listeners of its own (`on-finished`) only to learn of broken connections, which the
 * server sees anyway: test/bench/README.md says what that costs.
 */
export function createHandler(app: Koa): Handler {
  const run = compose(app.middleware);
  return async (request, response) => {
    const ctx = app.createContext(request, response);
    ctx.state['requestId'] = identifyRequest(request);
    response.statusCode = 404;
    try {
      await run(ctx);
      if (!response.headersSent) send(ctx);
    } catch (error) {
      ctx.onerror(error instanceof Error ? error : new Error('not an error was thrown', { cause: error }));
    }
  };
}

/** Sends what the middleware has set on the context. */
function send(ctx: Context): void {
  ctx.set('X-Request-Id', requestIdOf(ctx));
  ctx.res.end(ctx.method === 'HEAD' ? '' : ctx.body);
}

const json = 'application/json; charset=utf-8';

/** Sends a JSON text at once, past Koa's setters, which take longer for these headers than Node does for the whole answer. */
export function sendJson(ctx: Context, status: number, text: string): void {
  const length = String(Buffer.byteLength(text));
  const headers = ['X-Request-Id', requestIdOf(ctx), 'Content-Type', json, 'Content-Length', length];
  ctx.res.writeHead(status, headers).end(text);
}
