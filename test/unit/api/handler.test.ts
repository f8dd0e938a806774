import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import { createHandler } from '../../../internal/intake/fast-path/handler.ts';

describe('the handler of the fast path', () => {
  for (const [what, thrown] of [
    ['an error', new Error('secret')],
    ['something else', 'secret'],
  ] as const) {
    it(`answers 500 when ${what} is thrown outside all middleware, emits it, and hides it from the caller`, async () => {
      const app = new Koa().use(() => {
        throw thrown;
      });
      app.silent = true;
      const emitted = once(app, 'error');
      const handler = createHandler(app);
      const server = createServer((request, response) => void handler(request, response)).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } });
      expect(answer.status).to.equal(500);
      expect(await answer.text()).to.not.contain('secret');
      server.close();
      await once(server, 'close');
      const [error] = (await emitted) as [Error];
      expect(error === thrown || error.cause === thrown).to.equal(true);
    });
  }
});
