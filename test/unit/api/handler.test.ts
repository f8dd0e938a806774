import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Router } from '@koa/router';
import { expect } from 'chai';
import Koa, { type Middleware } from 'koa';
import { exactRoutes } from '../../../internal/api/fast-path/exact-routes.ts';
import { createHandler } from '../../../internal/api/fast-path/handler.ts';

/**
 * Returns the answer of a server with this middleware, and the errors that its application emits.
 */
async function ask(middleware: Middleware, path = '/', method = 'GET') {
  const app = new Koa().use(middleware);
  const errors: unknown[] = [];
  app.silent = true;
  app.on('error', (error) => errors.push(error));
  const handler = createHandler(app);
  const server = createServer((request, response) => void handler(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method });
    return { status: answer.status, headers: answer.headers, text: await answer.text(), errors };
  } finally {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
}

describe('the handler of the fast path', () => {
  const hello: Middleware = (ctx) => {
    ctx.body = 'hello';
  };

  it('sends the body that the middleware sets, and the request id', async () => {
    const { status, headers, text } = await ask(hello);
    expect([status, text, headers.get('content-length')]).to.deep.equal([200, 'hello', '5']);
    expect(headers.get('x-request-id')).to.match(/^[\da-f]{32}$/);
  });

  it('answers HEAD with the headers only', async () => {
    const { status, headers, text } = await ask(hello, '/', 'HEAD');
    expect([status, text, headers.get('content-length')]).to.deep.equal([200, '', '5']);
  });

  for (const [what, thrown] of [
    ['an error', new Error('secret')],
    ['something else', 'secret'],
  ] as const) {
    it(`answers 500 when ${what} is thrown outside all middleware, emits it, and hides it from the caller`, async () => {
      const { status, text, errors } = await ask(() => {
        throw thrown;
      });
      expect(status).to.equal(500);
      expect(text).to.not.contain('secret');
      expect(errors).to.have.lengthOf(1);
      const [error] = errors as Error[];
      expect(error === thrown || error?.cause === thrown).to.equal(true);
    });
  }
});

describe('exact routes', () => {
  const named = (): Middleware => {
    const router = new Router();
    const add =
      (text: string): Middleware =>
      (ctx, next) => {
        ctx.body = `${String(ctx.body ?? '')}${text} `;
        return next();
      };
    const tell: Middleware = (ctx) => {
      ctx.body = `${String(ctx.body)}${String(ctx['_matchedRouteName'])}`;
    };
    router.register('/a', ['GET'], [add('one'), add('two'), tell], { name: '/a/' });
    return exactRoutes(router);
  };

  for (const [path, text] of [
    ['/a/', 'one two /a/'],
    ['/a', 'one two /a/'],
    ['/a/?b=c', 'one two /a/'],
  ] as const) {
    it(`run all of a route, and name it: ${path}`, async () => {
      expect(await ask(named(), path)).to.include({ status: 200, text });
    });
  }

  it('leave other paths and methods to what follows', async () => {
    expect((await ask(named(), '/b/')).status).to.equal(404);
    expect((await ask(named(), '/a/', 'POST')).status).to.equal(404);
  });
});
