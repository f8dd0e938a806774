import { once } from 'node:events';
import { IncomingMessage, ServerResponse, type IncomingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import { createJsonBodyReader } from '../../../internal/api/json-body.ts';
import { RequestError } from '../../../internal/errors/request-error.ts';

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
    it(`is refused where it ${what}`, async () => {
      const request = await brokenRequest(headers);
      const ctx = new Koa().createContext(request, new ServerResponse(request));
      const refused = await createJsonBodyReader(1_000)(ctx).catch((error: unknown) => error);
      expect(refused).to.be.an.instanceOf(RequestError).with.property('code', 'malformed-request');
    });
  }
});
