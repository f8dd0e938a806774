import { METHODS } from 'node:http';
import { expect } from 'chai';
import { inBothModes } from '../../support/api-modes.ts';
import { pingKey, token } from '../../support/pipeline.ts';
import { eventBody } from '../../support/events.ts';
import { exchange } from '../../support/raw-connection.ts';

inBothModes('plain HTTP', ({ suiteIngest }) => {
  const suite = suiteIngest(() => ({ PUBLIC_URL: 'https://runledger.example/base/' }));
  const plain = { 'x-forwarded-proto': undefined };

  it('redirects a POST with 301 and stores nothing', async () => {
    const answer = await suite.ingest.client.register(eventBody(), plain);

    expect(answer.status).to.equal(301);
    expect(answer.headers.location).to.equal('https://runledger.example/base/v1/register/');
    expect(answer.headers['cache-control']).to.equal('no-store');
    // Browsers ignore it over plain HTTP (RFC 6797, section 7.2).
    expect(answer.headers['strict-transport-security']).to.equal(undefined);
    expect(answer.body).to.equal('');
    expect(await suite.stored()).to.deep.equal([]);
  });

  it('redirects every method on every path, with its query', async () => {
    // CONNECT asks for a tunnel, which has no path; its connection is closed.
    for (const method of METHODS.filter((name) => name !== 'CONNECT')) {
      const answer = await suite.ingest.client.send({ method, path: '/no/such%20path?a=b%26', headers: plain });

      expect(answer.status, method).to.equal(301);
      expect(answer.headers.location).to.equal('https://runledger.example/base/no/such%20path?a=b%26');
      expect(answer.headers['cache-control']).to.equal('no-store');
    }
  });

  for (const [target, location] of [
    ['http://evil.example/v1/register/', 'https://runledger.example/base/v1/register/'],
    ['http://evil.example', 'https://runledger.example/base/'],
    ['//evil.example/v1/ping/', 'https://runledger.example/base/v1/ping/'],
    ['/\\evil.example/', 'https://runledger.example/base/'],
    ['/@evil.example/', 'https://runledger.example/base/@evil.example/'],
    ['/../../v1/ping/', 'https://runledger.example/base/v1/ping/'],
    ['foo://.evil.example', 'https://runledger.example/base'],
    ['*', 'https://runledger.example/base/*'],
  ] as const) {
    it(`never redirects to another host: target ${target}`, async () => {
      const evil = ['Host: evil.example', 'X-Forwarded-Host: evil.example', 'Connection: close'];
      const answer = await exchange(suite.ingest.port, `OPTIONS ${target} HTTP/1.1`, ...evil, '', '');
      expect(answer).to.match(/^HTTP\/1\.1 301 /);
      expect(/^location: (.*)\r$/im.exec(answer)?.[1]).to.equal(location);
    });
  }

  const key = 'rlp_0123456789abcdefABCDEF';
  const [ping, first] = ['https://runledger.example/base/ping/', 'https://runledger.example/base/'];
  for (const [target, location] of [
    [`/ping/${key}/id`, ping],
    [`//ping/${key}/id`, ping],
    [`/%70ing/${key}/id`, ping],
    [`/%2570ing/${key}/id`, ping],
    [`/ping%2f${key}/id`, ping],
    [`/PING/${key}`, ping],
    [`/ping//${key}`, ping],
    [`/ping/./${key}`, ping],
    [`/\\ping\\${key}`, ping],
    [`/v1/ping/${key}`, ping],
    [`/a/../ping/my-key/id`, ping],
    [`/ping;a=b/my-key`, ping],
    [`/base/ping/my-key/id`, ping],
    [`http://evil.example/ping/my-key/id`, ping],
    [`http://ping/my-key/id`, ping],
    [`/once/my-secret`, first],
    [`//%6Fnce/my-secret`, first],
    [`/v1/events/?token=my-secret`, first],
    [`/v1/events/?api%5Fkey=my-secret`, first],
    [`/login/callback?code=my-secret&state=x`, first],
    [`/v1/executions/${key}/`, first],
    [`/${'%25'.repeat(3)}${'25'.repeat(9)}70ing/my-key`, undefined],
    [`/v1/ping/?a=b`, 'https://runledger.example/base/v1/ping/?a=b'],
    [`/ping/`, ping],
    [`/shopping/list`, 'https://runledger.example/base/shopping/list'],
  ] as const) {
    it(`never repeats a secret: target ${target.replace(key, 'KEY')}`, async () => {
      const answer = await exchange(
        suite.ingest.port,
        `GET ${target} HTTP/1.1`,
        'Host: x',
        'Connection: close',
        '',
        '',
      );
      expect(answer).to.match(/^HTTP\/1\.1 301 /);
      expect(answer).not.to.match(/rlp_|my-/i);
      if (location !== undefined) expect(/^location: (.*)\r$/im.exec(answer)?.[1]).to.equal(location);
    });
  }

  it('redirects before anything else is looked at: no token, bad body, 300 KiB, an expectation', async () => {
    const { client } = suite.ingest;
    const answers = await Promise.all([
      client.register('{', { ...plain, token: undefined }),
      client.register(Buffer.alloc(300 * 1024, 'x'), { ...plain, 'content-type': 'text/plain' }),
      client.register(eventBody(), { ...plain, expect: '200-ok' }),
    ]);

    expect(answers.map(({ status }) => status)).to.deep.equal([301, 301, 301]);
    expect(await suite.stored()).to.deep.equal([]);
  });

  it('does not invite a body that it will not read', async () => {
    const head = ['Host: x', 'Content-Type: application/json', 'Content-Length: 100', 'Expect: 100-continue'];
    const answer = await exchange(suite.ingest.port, 'POST /v1/register/ HTTP/1.1', ...head, '', '');
    expect(answer).to.match(/^HTTP\/1\.1 301 /);
    expect(answer).to.not.contain('100 Continue');
  });

  it('counts the requests that carried a token, which has leaked', async () => {
    const { client, telemetry } = suite.ingest;
    await client.send({ path: '/', headers: plain });
    await client.send({ path: '/', headers: { ...plain, token: undefined } });

    const metrics = await telemetry.registry.metrics();
    expect(metrics).to.match(/^runledger_plain_http_requests_total\{token="true".*\} [1-9]/m);
    expect(metrics).to.match(/^runledger_plain_http_requests_total\{token="false".*\} [1-9]/m);
    expect(metrics).to.not.contain(token);
  });

  it('counts a token in each header that may carry one', async () => {
    const { client, telemetry } = suite.ingest;
    const leaks = async (): Promise<number> => {
      const metrics = await telemetry.registry.metrics();
      return Number(/^runledger_plain_http_requests_total\{token="true".*\} (\d+)/m.exec(metrics)?.[1] ?? 0);
    };
    const before = await leaks();
    for (const header of [{ token }, { authorization: `Bearer ${token}` }, { 'x-api-key': pingKey }]) {
      expect((await client.send({ path: '/', headers: { ...plain, token: undefined, ...header } })).status).to.equal(
        301,
      );
    }
    expect(await leaks()).to.equal(before + 3);
  });
});

inBothModes('X-Forwarded-Proto', ({ suiteIngest }) => {
  const trusting = suiteIngest();
  const distrusting = suiteIngest(() => ({ TRUST_PROXY: 'false' }));

  for (const [header, status] of [
    ['https', 200],
    ['HTTPS', 200],
    ['http', 301],
    ['', 301],
    [undefined, 301],
    ['http, https', 200],
    // The caller's own value comes first; our proxy appends its value.
    ['https, http', 301],
    ['https,', 301],
    ['httpsx', 301],
  ] as const) {
    it(`believed of a trusted proxy: ${header ?? 'absent'} gives ${status}`, async () => {
      const answer = await trusting.ingest.client.send({ path: '/v1/ping/', headers: { 'x-forwarded-proto': header } });
      expect(answer.status).to.equal(status);
    });
  }

  it('is nothing from a proxy that is not trusted', async () => {
    const answer = await distrusting.ingest.client.send({ path: '/v1/ping/' });
    expect(answer.status).to.equal(301);
  });
});
