import { expect } from 'chai';
import { startConsole, readToken } from '../../support/console.ts';
import { lockRecord, queriesWaiting, suiteConsole } from '../../support/reading.ts';

const automation = '0190a0b0-0000-7000-8000-000000000001';
const paths = [
  '/v1/automations/',
  `/v1/automations/${automation}/`,
  '/v1/executions/',
  `/v1/executions/${automation}/run%201/`,
  `/v1/executions/${automation}/run%201/events/`,
  '/v1/events/',
  '/v1/errors/',
];

describe('access to the read API', () => {
  const suite = suiteConsole();

  for (const path of paths) {
    it(`is for readers of the organization only: ${path}`, async () => {
      await suite.store({ executionId: 'run 1' });
      const statusOf = async (request: Parameters<typeof suite.client.send>[0]): Promise<number> =>
        (await suite.client.send(request)).status;
      expect(await statusOf({ path })).to.equal(200);
      expect(await statusOf({ path: path.replace(/\/$/, '') })).to.equal(200);
      expect(await statusOf({ path: path.toUpperCase() })).to.equal(404);
      expect(await statusOf({ path, method: 'HEAD' })).to.equal(200);
      expect(await statusOf({ path, method: 'POST' })).to.equal(405);
      // Manage tokens delete declarations.
      const deleted = path.startsWith('/v1/automations/0') ? 403 : 405;
      expect(await statusOf({ path, method: 'DELETE' })).to.equal(deleted);
      expect(await statusOf({ path, headers: { token: undefined } })).to.equal(401);
      expect(await statusOf({ path, headers: { token: 'unknown' } })).to.equal(401);
      const bearer = { token: undefined, authorization: `Bearer ${readToken()}` };
      expect(await statusOf({ path, headers: bearer })).to.equal(200);

      const writer = await suite.client.send({ path, headers: { token: 'write-token-of-acme' } });
      expect(writer.status).to.equal(403);
      expect(writer.json()['type']).to.equal('https://runledger.dev/problems/insufficient-scope');

      const plain = await suite.client.send({ path: `${path}?a=1`, headers: { 'x-forwarded-proto': 'http' } });
      expect(plain.status).to.equal(301);
      expect(plain.headers.location).to.equal(`https://console.example${path}?a=1`);
    });
  }

  it('tells browsers to keep to HTTPS and to the type of each answer, whatever the answer is', async () => {
    await suite.store({ executionId: 'run 1' });
    for (const [path, headers] of [
      ...paths.map((one) => [one, {}] as const),
      ['/v1/events/', { token: 'unknown' }],
      ['/v1/export/events.ndjson', {}],
      ['/no-such-path', {}],
      ['/login', { token: undefined }],
      ['/', { token: undefined }],
    ] as const) {
      const answer = await suite.client.send({ path, headers });
      expect(answer.headers, path).to.include({
        'strict-transport-security': 'max-age=31536000',
        'x-content-type-options': 'nosniff',
      });
    }
    const stream = await suite.client.send({ path: '/v1/stream/', method: 'HEAD' });
    expect(stream.headers).to.include({ 'x-content-type-options': 'nosniff' });
  });

  it('answers ping for both scopes', async () => {
    for (const scope of ['read', 'write']) {
      const headers = { token: `${scope}-token-of-acme` };
      const answer = await suite.client.send({ path: '/v1/ping/', headers });
      expect(answer.json()).to.include({ status: 'ok', organization: 'acme', scope });
    }
  });

  it('answers a HEAD as a GET, without the body', async () => {
    await suite.store({ executionId: 'run 1' }, { executionId: 'run 2' });
    const get = await suite.client.send({ path: '/v1/executions/?limit=1' });
    const head = await suite.client.send({ method: 'HEAD', path: '/v1/executions/?limit=1' });
    expect(head.body).to.equal('');
    for (const name of ['etag', 'link', 'content-type', 'content-length', 'cache-control']) {
      expect(head.headers[name], name).to.be.a('string').that.equals(get.headers[name]);
    }
  });

  it('answers 304 to a reader that has the answer, until it changes', async () => {
    await suite.store({ executionId: 'run 1' });
    for (const path of ['/v1/executions/', `/v1/executions/${automation}/run%201/`, '/v1/events/']) {
      const first = await suite.client.send({ path });
      const headers = { 'if-none-match': String(first.headers.etag) };
      const again = await suite.client.send({ path, headers });
      expect(again.status, path).to.equal(304);
      expect(again.body).to.equal('');
      expect(again.headers.etag).to.equal(first.headers.etag);
      await suite.store({ executionId: 'run 1', kind: 'WARNING', description: path });
      expect((await suite.client.send({ path, headers })).status).to.equal(200);
    }
  });

  it('has no ETag for an answer that holds the time of its request', async () => {
    await suite.store({ kind: 'ERROR', errorId: 'E' });
    for (const path of ['/v1/automations/', `/v1/automations/${automation}/`, '/v1/errors/']) {
      const answer = await suite.client.send({ path, headers: { 'if-none-match': '*' } });
      expect(answer.status, path).to.equal(200);
      expect(answer.headers, path).not.to.have.property('etag');
    }
  });
});

describe('the rate of a read token', () => {
  const suite = suiteConsole({ READ_RATE: '1' });

  it('rejects with 429 and Retry-After beyond READ_RATE, each token by itself', async () => {
    const answers = [];
    for (let index = 0; index < 20; index += 1) answers.push(await suite.client.send({ path: '/v1/executions/' }));
    const rejected = answers.filter(({ status }) => status === 429);
    expect(rejected.length).to.be.at.least(1);
    for (const answer of rejected) {
      expect(answer.headers['retry-after']).to.equal('1');
      expect(answer.json()['type']).to.equal('https://runledger.dev/problems/too-many-requests');
    }
    const other = await suite.client.send({ path: '/v1/executions/', headers: { token: readToken('globex') } });
    expect(other.status).to.equal(200);
    expect((await suite.client.send({ path: '/v1/ping/' })).status).to.equal(200);
    const metrics = await suite.console.telemetry.registry.metrics();
    expect(metrics).to.match(/runledger_console_rejections_total\{reason="rate",process="console"\} [1-9]/);
  });
});

describe('the concurrency of a read token', () => {
  const suite = suiteConsole({ READ_CONCURRENCY: '2', READ_STATEMENT_TIMEOUT_MS: '60000' });

  it('rejects with 429 beyond READ_CONCURRENCY', async () => {
    const release = await lockRecord(suite.database);
    const waiting = [1, 2].map(() => suite.client.send({ path: '/v1/executions/' }));
    await queriesWaiting(suite.database, 2);
    const third = await suite.client.send({ path: '/v1/executions/' });
    await release();
    expect(third.status).to.equal(429);
    expect((await Promise.all(waiting)).map(({ status }) => status)).to.deep.equal([200, 200]);
    expect((await suite.client.send({ path: '/v1/executions/' })).status).to.equal(200);
  });
});

describe('the read API before the tokens are loaded', () => {
  const suite = suiteConsole();

  it('answers 503, never 401', async () => {
    await using console = await startConsole(suite.database.url, {}, () => ({ status: 'not-loaded' }));
    const answer = await console.client.send({ path: '/v1/executions/' });
    expect(answer.status).to.equal(503);
    expect(answer.headers['retry-after']).to.equal('1');
  });
});
