import { setImmediate as afterThisTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { defaultServerLimits } from '../../../internal/intake/http/server-limits.ts';
import { inBothModes } from '../../support/api-modes.ts';
import { ApiClient } from '../../support/api-client.ts';
import { eventBody } from '../../support/events.ts';
import { answerOf, expectProblem } from '../../support/problem.ts';
import { exchange, RawConnection, registerHead } from '../../support/raw-connection.ts';
import { until } from '../../support/until.ts';

const impatient = { headersTimeout: 60, requestTimeout: 120, connectionsCheckingInterval: 10 };
const head = registerHead();

inBothModes('slow and broken clients', ({ startApi }) => {
  const enqueue = <T>(event: T): Promise<T> => Promise.resolve(event);

  for (const [what, lines] of [
    ['headers', ['GET /v1/ping/ HTTP/1.1', 'Host: x']],
    ['a body', [...head, 'Content-Length: 100', '', '{']],
    ['a chunk', [...head, 'Transfer-Encoding: chunked', '', '5', '{']],
  ] as const) {
    it(`are cut off with 408 when they do not finish ${what}`, async () => {
      await using api = await startApi(enqueue, impatient);
      expectBroken(await exchange(api.port, ...lines), 408, 'request-timeout');
    });
  }

  it('are cut off when they say nothing at all', async () => {
    await using api = await startApi(enqueue, impatient);
    using silent = await RawConnection.open(api.port);
    await silent.closed;
  });

  it('are cut off also when they do not close their side', async () => {
    await using api = await startApi(enqueue, impatient);
    using stubborn = await RawConnection.open(api.port, { allowHalfOpen: true });
    stubborn.send('GET /v1/ping/ HTTP/1.1', 'Host: x');
    await stubborn.receives(/ 408 /);
    await until('the reset', () => {
      stubborn.send('more');
      return stubborn.isClosed || undefined;
    });
  });

  const large = (bytes: number) => ['GET / HTTP/1.1', 'Host: x', `X: ${'x'.repeat(bytes)}`, '', ''];
  const chunk = (text: string) => [...head, 'Transfer-Encoding: chunked', '', text, '', ''];
  for (const [what, status, code, lines] of [
    ['headers over 16 KiB', 431, 'headers-too-large', large(17_000)],
    ['headers of megabytes', 431, 'headers-too-large', large(4e6)],
    ['chunk extensions over 16 KiB', 413, 'payload-too-large', chunk(`5;${'x'.repeat(17_000)}`)],
    ['a bad chunk', 400, 'malformed-request', chunk('xyz')],
    ['no HTTP', 400, 'malformed-request', ['hello', '', '']],
    ['a TLS handshake', 400, 'malformed-request', ['\u0016\u0003\u0001\u0002\u0000\u0001', '', '']],
    ['two lengths', 400, 'malformed-request', [...head, 'Content-Length: 5', 'Content-Length: 6', '', '']],
    ['a length and chunks', 400, 'malformed-request', [...head, 'Content-Length: 5', ...chunk('0').slice(head.length)]],
  ] as const) {
    it(`get a problem document for ${what}`, async () => {
      await using api = await startApi(enqueue);
      expectBroken(await exchange(api.port, ...lines), status, code);
    });
  }

  it('spoil only their own answer: a valid request before the broken one keeps its 201', async () => {
    await using api = await startApi((event) => afterThisTurn(event));
    using connection = await RawConnection.open(api.port);
    const body = JSON.stringify(eventBody());
    connection.send(...head, `Content-Length: ${body.length}`, '', `${body}broken`, '', '');

    const received = await connection.toEnd();
    expect(received.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 201']);
    expect(received).to.contain('Connection: close');
  });

  it('do not get in the way of the idle connections of a proxy', async () => {
    expect(defaultServerLimits.keepAliveTimeout).to.be.greaterThan(60_000);
    expect(defaultServerLimits.headersTimeout).to.equal(10_000);
    expect(defaultServerLimits.requestTimeout).to.equal(15_000);
    await using api = await startApi(enqueue);
    const client = new ApiClient(`http://127.0.0.1:${api.port}`, api.headers);
    const answer = await client.send({ path: '/v1/ping/' });
    client.close();
    expect(answer.headers['keep-alive']).to.equal('timeout=75');
  });

  it('may be idle between two requests for longer than one may take', async () => {
    // A busy machine takes less than these for the requests that are complete.
    await using api = await startApi(enqueue, { ...impatient, headersTimeout: 1_500, requestTimeout: 2_000 });
    using connection = await RawConnection.open(api.port);
    const ping = ['GET /v1/ping/ HTTP/1.1', 'Host: x', 'Token: x', 'X-Forwarded-Proto: https', '', ''];
    connection.send(...ping);
    await connection.receives(/"ok"/);
    using slow = await RawConnection.open(api.port);
    slow.send('GET /v1/ping/ HTTP/1.1');
    await slow.receives(/ 408 /);
    connection.send(...ping);
    await connection.receives(/"ok"[^]*"ok"/);
  });
});

inBothModes('internal errors', ({ startApi }) => {
  it('become a 500 that reveals nothing, and a log entry with the details', async () => {
    await using api = await startApi(() => Promise.reject(new TypeError('secret of redis://user:pw@host')));
    const client = new ApiClient(`http://127.0.0.1:${api.port}`, api.headers);
    const answer = await client.register(eventBody());
    client.close();

    expectProblem(answer, 500, 'internal-error');
    const detail = 'Something went wrong on our side. Please retry.';
    expect(answer.json()).to.include({ title: 'Internal error', detail });
    expect(answer.body).to.not.contain('secret');
    expect(JSON.stringify(answer.headers)).to.not.contain('secret');
    expect(api.records.find(({ level }) => level === 'error')?.message).to.equal('request failed unexpectedly');
  });
});

/** The answer is a problem document, and the last one on its connection. */
function expectBroken(raw: string, status: number, code: string): void {
  const answer = answerOf(raw);
  expectProblem(answer, status, code);
  expect(answer.headers.connection).to.equal('close');
}
