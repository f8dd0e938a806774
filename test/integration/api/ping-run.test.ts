import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Answer, Request } from '../../support/api-client.ts';
import { inBothModes } from '../../support/api-modes.ts';
import { Forwarder } from '../../support/forwarder.ts';
import { freePort } from '../../support/free-port.ts';
import { pingKey, readToken, token } from '../../support/pipeline.ts';
import { expectProblem } from '../../support/problem.ts';
import { RawConnection } from '../../support/raw-connection.ts';

inBothModes('/ping/', ({ startIngest, suiteIngest }) => {
  const suite = suiteIngest();
  const notLoaded = suiteIngest(
    () => ({}),
    () => ({ status: 'not-loaded' }),
  );
  let automation: string;
  beforeEach(() => {
    automation = randomUUID();
  });

  const noToken = { token: undefined };
  function ping(end = '', { method = 'POST', body, headers = {} }: Partial<Request> = {}): Promise<Answer> {
    const path = `/ping/${pingKey}/${automation}${end}`;
    return suite.ingest.client.send({ method, path, headers: { ...noToken, ...headers }, ...(body && { body }) });
  }
  async function pinged(end = '', request: Partial<Request> = {}): Promise<void> {
    const answer = await ping(end, request);
    expect(answer.status, answer.body).to.equal(200);
  }
  /** The kinds by run, in order. */
  async function runs(): Promise<string[]> {
    const byRun = Map.groupBy(await suite.stored(), ({ executionId }) => executionId);
    return [...byRun.values()].map((events) => events.map(({ kind }) => kind).join(' '));
  }

  for (const method of ['GET', 'HEAD', 'POST']) {
    it(`${method}: a success alone is START and END in one commit`, async () => {
      const answer = await ping('', { method });
      expect([answer.status, answer.body]).to.deep.equal([200, method === 'HEAD' ? '' : 'OK']);
      expect(answer.headers).to.include({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
      expect(await runs()).to.deep.equal(['START END']);
      expect(await suite.redis.command('llen', '{runledger}:events:wait')).to.equal(1);
    });
  }

  it('joins the pings of a run without a rid, by automation in any letter case', async () => {
    await pinged('/start');
    automation = automation.toUpperCase();
    await pinged('/log', { body: 'half of it' });
    await pinged('', { body: 'done' });
    await pinged('/start');
    await pinged('/0');
    expect(await runs()).to.deep.equal(['START EVENT END', 'START END']);
    const texts = (await suite.stored()).map(({ description }) => description);
    expect(texts).to.deep.equal(['', 'half of it', 'done', '', '']);
  });

  it('fails a run by fail and by an exit code', async () => {
    await pinged('/start');
    await pinged('/fail', { body: 'no space' });
    await pinged('/75');
    expect(await runs()).to.deep.equal(['START ERROR END', 'START ERROR END']);
    const errors = (await suite.stored()).filter(({ kind }) => kind === 'ERROR');
    expect(errors[0]).to.include({ description: 'no space', errorDescription: 'no space', errorId: '' });
    expect(errors[1]).to.include({ description: '', errorId: '75' });
  });

  it('keeps runs at the same time apart by rid, and records a repeated ping once', async () => {
    for (const rid of ['a', 'b']) for (let i = 0; i < 2; i++) await pinged(`/start?rid=${rid}`);
    for (let i = 0; i < 2; i++) await pinged('?rid=a', { body: 'done' });
    for (let i = 0; i < 2; i++) await pinged('/1?rid=b');
    expect(await runs()).to.have.members(['START END', 'START ERROR END']);
    expect(
      (await suite.stored())
        .map(({ executionId }) => executionId)
        .sort()
        .join(''),
    ).to.equal('aabbb');
  });

  it('fails a run by an exit code when fail got 503 before', async () => {
    await suite.redis.command('set', '{runledger}:events:id', 'so that no job can be added');
    expectProblem(await ping('/fail?rid=a'), 503, 'unavailable');
    await suite.redis.command('del', '{runledger}:events:id');
    await pinged('/1?rid=a');
    await pinged('/1?rid=a');
    expect(await runs()).to.deep.equal(['ERROR END']);
    expect((await suite.stored())[0]).to.include({ errorId: '1' });
  });

  it('opens a second run for a second start, and ends the last one', async () => {
    await pinged('/start');
    await pinged('/start');
    await pinged();
    expect(await runs()).to.deep.equal(['START', 'START END']);
  });

  it('keeps the first 100 kB of a body, cut to the limits of the fields, and reads the rest', async () => {
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      await pinged('/fail', { body: 'é\0'.repeat(400_000), headers });
    }
    const errors = (await suite.stored()).filter(({ kind }) => kind === 'ERROR');
    expect(errors).to.have.lengthOf(2);
    for (const { description, errorDescription } of errors) {
      expect(description).to.equal('é\uFFFD'.repeat(5_000));
      expect(errorDescription).to.equal('é\uFFFD'.repeat(33_333));
    }
  });

  it('400: a log without a run, an automation that is no UUID, a rid that cannot be stored', async () => {
    expectProblem(await ping('/log'), 400, 'malformed-request');
    const twice = await ping('?rid=a&rid=b');
    expect(twice.json()['errors']).to.deep.equal([{ parameter: 'rid', detail: 'must be given once' }]);
    for (const rid of ['', 'x'.repeat(256), '%00']) {
      const answer = await ping(`?rid=${rid}`);
      expectProblem(answer, 400, 'malformed-request');
      expect(answer.json()['errors'], rid).to.containSubset([{ parameter: 'rid' }]);
    }
    automation = 'backup';
    const answer = await ping();
    expectProblem(answer, 400, 'malformed-request');
    expect(answer.json()['errors']).to.containSubset([{ parameter: 'automation_id' }]);
    expect(await suite.stored()).to.deep.equal([]);
  });

  it('404 for another signal, 405 for another method', async () => {
    for (const end of ['/begin', '/256', '/-1', '/1e1']) expectProblem(await ping(end), 404, 'not-found');
    expectProblem(await ping('', { method: 'PUT' }), 405, 'method-not-allowed');
    expect((await ping('/start/now')).status).to.equal(404);
  });

  it('401 without a ping key, 403 with a token in its place', async () => {
    for (const path of ['/ping/', '/ping/x', `/ping/no-such-key/${automation}`]) {
      expectProblem(await suite.ingest.client.send({ path }), 401, 'unauthorized');
    }
    for (const wrong of [token, readToken]) {
      const answer = await suite.ingest.client.send({ path: `/ping/${wrong}/${automation}` });
      expectProblem(answer, 403, 'insufficient-scope');
      expect(answer.body).not.to.contain(wrong);
    }
  });

  it('403 for a ping key at every other endpoint', async () => {
    for (const path of ['/v1/register/', '/v1/register/bulk/', '/v1/ping/']) {
      const answer = await suite.ingest.client.send({ method: 'POST', path, headers: { token: pingKey } });
      expectProblem(answer, 403, 'insufficient-scope');
      expect(answer.body).to.contain('This is a ping key');
    }
  });

  it('301 over plain HTTP, without the key', async () => {
    const answer = await ping('/start?rid=a', { headers: { 'x-forwarded-proto': undefined } });
    expect(answer.status).to.equal(301);
    expect(answer.headers.location).to.equal('https://runledger.example/ping/');
    expect(await suite.stored()).to.deep.equal([]);
  });

  it('503 while Redis is not available, and before the tokens are loaded', async () => {
    const path = `/ping/${pingKey}/${automation}`;
    await using ingest = await startIngest({ REDIS_URL: `redis://127.0.0.1:${await freePort()}` });
    for (const end of ['', '/start', '?rid=a']) {
      expectProblem(await ingest.client.send({ path: path + end }), 503, 'unavailable');
    }
    expectProblem(await notLoaded.ingest.client.send({ path }), 503, 'unavailable');
  });

  it('shares its time between all replies of Redis that it needs', async () => {
    await using slow = await Forwarder.start(suite.redis.port);
    await using ingest = await startIngest({ REDIS_URL: `redis://127.0.0.1:${slow.port}` });
    // 0.9 s a reply: four of them are more than the time of an answer.
    slow.delay(450);
    const begun = performance.now();
    const answer = await ingest.client.send({ path: `/ping/${pingKey}/${automation}/start`, headers: noToken });
    expect(answer.status).to.be.oneOf([200, 503]);
    expect(performance.now() - begun).to.be.below(3_000);
    slow.heal();
  });

  it('400 if the connection closes before the end of the body; nothing is recorded', async () => {
    const head = [`POST /ping/${pingKey}/${automation} HTTP/1.1`, 'Host: a', 'X-Forwarded-Proto: https'];
    const connection = await RawConnection.open(suite.ingest.port);
    connection.send(...head, 'Content-Length: 10', '', 'abc');
    connection[Symbol.dispose]();
    await connection.closed;
    await pinged('', { body: 'whole' });
    expect((await suite.stored()).map(({ description }) => description)).to.deep.equal(['', 'whole']);
  });

  it('keeps the key out of metrics', async () => {
    await ping('/start');
    await ping('/begin');
    await ping('/start/now');
    await ping('', { method: 'PUT' });
    const page = await suite.ingest.telemetry.registry.metrics();
    expect(page).not.to.contain(pingKey);
    expect(page).to.match(/runledger_http_requests_total\{route="\/ping\/",method="POST",status="200"[^}]*\} /);
  });
});
