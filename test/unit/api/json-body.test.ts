import { once } from 'node:events';
import { IncomingMessage, ServerResponse, type IncomingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import { Bodies } from '../../../internal/intake/bodies/bodies.ts';
import { fastPath as createFastPath } from '../../../internal/intake/fast-path/fast-path.ts';
import { JsonBody } from '../../../internal/intake/bodies/json-body.ts';
import { plainKoa } from '../../../internal/intake/http/plain-koa.ts';
import { RequestError } from '../../../internal/kit/errors/request-error.ts';

const fastPath = createFastPath(new URL('https://runledger.example'));

/** A request whose connection broke before anybody read its body, of which a part had come. */
async function brokenRequest(headers: IncomingHttpHeaders): Promise<IncomingMessage> {
  const request = new IncomingMessage(new Socket());
  request.headers = { 'content-type': 'application/json', ...headers };
  request.push('{"event":');
  request.destroy();
  await once(request, 'close');
  return request;
}

describe('a body whose connection broke before it was read', () => {
  for (const [what, headers] of [
    ['says its length', { 'content-length': '100' }],
    ['does not say its length', { 'transfer-encoding': 'chunked' }],
  ] as const) {
    for (const [mode, stack] of Object.entries({ fastPath, plainKoa })) {
      it(`is rejected with 400 if it ${what} (${mode})`, async () => {
        const request = await brokenRequest(headers);
        const ctx = new Koa().createContext(request, new ServerResponse(request));
        const bodies = new Bodies({ charge: () => undefined });
        const types = ['application/json'];
        const body = new JsonBody({ limit: 1_000, types, readBytes: stack.bodyReader(1_000), bodies });
        const refused = await body.read(ctx, String).catch((error: unknown) => error);
        expect(refused).to.be.an.instanceOf(RequestError).with.property('code', 'malformed-request');
      });
    }
  }
});
