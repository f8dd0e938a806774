import { expect } from 'chai';
import type { Enqueue } from '../../../internal/intake/ways/register.ts';
import { unavailable } from '../../../internal/kit/errors/request-error.ts';
import { ApiClient, type Answer } from '../../support/api-client.ts';
import { startApi, type RunningApi } from '../../support/api-server.ts';
import { eventBody } from '../../support/events.ts';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';

async function withApi<T>(enqueue: Enqueue, use: (client: ApiClient, api: RunningApi) => Promise<T>): Promise<T> {
  await using api = await startApi(enqueue);
  const client = new ApiClient(`http://127.0.0.1:${api.port}`, api.headers);
  try {
    return await use(client, api);
  } finally {
    client.close();
  }
}

const accepting: Enqueue = (event) => Promise.resolve(event);

/** The id in the answer to an event sent with these headers. */
function idOf(headers: Record<string, string>): Promise<unknown> {
  return withApi(accepting, async (client) => {
    const answer = await client.register(eventBody(), headers);
    expect(answer.status).to.equal(201);
    return answer.headers['x-request-id'];
  });
}

describe('the id of a request', () => {
  it('is the one it brings', async () => {
    expect(await idOf({ 'x-request-id': 'order-7/retry:2', traceparent: `00-${trace}-00f067aa0ba902b7-01` })).to.equal(
      'order-7/retry:2',
    );
  });

  it('is the trace id of its traceparent otherwise', async () => {
    expect(await idOf({ traceparent: `00-${trace}-00f067aa0ba902b7-01` })).to.equal(trace);
  });

  it('is new when the request has none, or one that a log must not contain', async () => {
    const without = [
      {},
      { 'x-request-id': 'x'.repeat(129) },
      { 'x-request-id': 'two words', traceparent: '00-zz-1-01' },
    ];
    const ids = await Promise.all(without.map(idOf));
    for (const id of ids) expect(id).to.match(/^[\da-f]{32}$/);
    expect(new Set(ids).size).to.equal(without.length);
  });

  it('is in every answer, refusals and redirects too', async () => {
    const headers = { 'x-request-id': 'mine' };
    const answers = await withApi(accepting, (client) =>
      Promise.all([
        client.register('{', headers),
        client.send({ path: '/nowhere', headers }),
        client.send({ path: '/v1/ping/', headers }),
        client.send({ path: '/v1/ping/', headers: { ...headers, 'x-forwarded-proto': 'http' } }),
      ]),
    );
    expect(answers.map(({ status }: Answer) => status)).to.deep.equal([400, 404, 200, 301]);
    expect(answers.map((answer) => answer.headers['x-request-id'])).to.deep.equal(Array(4).fill('mine'));
  });

  it('leads to what was logged of the request: who, what, why, and neither token nor body', async () => {
    const secret = { ...eventBody(), description: 'body-text' };
    const records = await withApi(
      () => Promise.reject(unavailable('Redis is nearly full.')),
      async (client, api) => {
        await client.register(secret, { 'x-request-id': 'r-503', token: 'token-text' });
        await client.register('{"description":"body-text"}', { 'x-request-id': 'r-400', token: 'token-text' });
        return api.records;
      },
    );
    const common = { method: 'POST', route: '/v1/register/', organization: 'acme', tokenId: '0123456789ab' };
    // As it is written: JSON leaves out what is undefined.
    const written = JSON.parse(JSON.stringify(records)) as typeof records;
    const of = (id: string) => written.find(({ fields }) => fields['requestId'] === id);
    expect(of('r-503')).to.deep.equal({
      level: 'warn',
      message: 'request cannot be served now',
      fields: { ...common, requestId: 'r-503', status: 503, reason: 'Redis is nearly full.' },
    });
    expect(of('r-400')).to.deep.equal({
      level: 'info',
      message: 'request refused',
      fields: { ...common, requestId: 'r-400', status: 400, reason: 'invalid-event' },
    });
    expect(JSON.stringify(records)).to.not.match(/token-text|body-text/);
  });
});
