import { once } from 'node:events';
import { IncomingMessage, ServerResponse, type IncomingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import Koa, { type Context } from 'koa';
import { Bodies } from '../../../internal/intake/bodies/bodies.ts';
import { createProjectedReader } from '../../../internal/intake/bodies/projected-body.ts';
import { RequestError } from '../../../internal/kit/errors/request-error.ts';

const limit = 10;
const read = createProjectedReader(limit, { a: 5 }, new Bodies({ charge: () => undefined }));

/** A request with pieces of a body; without the last one, null, it has not arrived as a whole. */
function requestOf(headers: IncomingHttpHeaders, pieces: (string | null)[]): Context {
  const request = new IncomingMessage(new Socket());
  request.headers = { 'content-type': 'application/json', ...headers };
  for (const piece of pieces) request.push(piece === null ? null : Buffer.from(piece));
  return new Koa().createContext(request, new ServerResponse(request));
}

async function refusal(ctx: Context): Promise<string> {
  const error: unknown = await read(ctx).catch((reason: unknown) => reason);
  expect(error).to.be.instanceOf(RequestError);
  return (error as RequestError).code;
}

describe('the reader of large JSON bodies', () => {
  it('takes a body of the limit', async () => {
    expect(await read(requestOf({}, ['{"a":', ' "b"}', null]))).to.deep.equal({ a: 'b' });
  });

  it('413 for a longer body: at once if it says its length, else after its end', async () => {
    const announced = requestOf({ 'content-length': '11' }, []);
    expect(await refusal(announced)).to.equal('payload-too-large');
    const longer = requestOf({}, ['{"a":', ' "bc"}', '{', null]);
    expect(await refusal(longer)).to.equal('payload-too-large');
    expect(longer.req.readableEnded).to.equal(true);
  });

  it('400 for a body that is no JSON, after its end', async () => {
    const ctx = requestOf({}, ['}', '{}', null]);
    expect(await refusal(ctx)).to.equal('malformed-request');
    expect(ctx.req.readableEnded).to.equal(true);
  });

  it('400 if the connection broke', async () => {
    const ctx = requestOf({}, ['{']);
    ctx.req.destroy();
    await once(ctx.req, 'close');
    expect(await refusal(ctx)).to.equal('malformed-request');
  });
});
