import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { hashedName } from '../../../internal/queue/keys/keys.ts';
import type { Answer, Request } from '../../support/api-client.ts';
import { inBothModes } from '../../support/api-modes.ts';
import { Forwarder } from '../../support/forwarder.ts';
import { freePort } from '../../support/free-port.ts';
import { underWay } from '../../support/keys.ts';
import { until } from '../../support/until.ts';
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

  it('keeps the end of a long body, says what is cut, and reads all of it', async () => {
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      await pinged('/fail', { body: `${'é\0'.repeat(400_000)}!`, headers });
      await pinged('', { body: `first\n${'x'.repeat(60_000)}\nlast`, headers });
    }
    const stored = await suite.stored();
    const errors = stored.filter(({ kind }) => kind === 'ERROR');
    expect(errors).to.have.lengthOf(2);
    for (const { description, errorDescription } of errors) {
      const ofDescription = '[790042 characters before this are cut.]\n';
      expect([description.length, description.slice(0, 45), description.at(-1)]).to.deep.equal([
        10_000,
        `${ofDescription}é\uFFFDé\uFFFD`,
        '!',
      ]);
      const kept = errorDescription.length;
      expect(kept).to.be.within(66_000, 67_000);
      expect(errorDescription.split('\n')[0]).to.equal(`[${800_001 - kept + 41} characters before this are cut.]`);
      expect(errorDescription.endsWith('é\uFFFD!')).to.equal(true);
    }
    const end = stored.find(({ kind, description }) => kind === 'END' && description !== '');
    expect(end?.description).to.have.lengthOf(10_000);
    expect(end?.description).to.match(/^\[50051 characters before this are cut\.\]\nx+\nlast$/);
  });

  it('says how much of a body it keeps, as Healthchecks does', async () => {
    const limits = { '/start': '100000', '/log': '10000', '': '10000', '/fail': '100000', '/3': '100000' };
    for (const [end, limit] of Object.entries(limits)) {
      if (end === '/log') await pinged('/start');
      expect((await ping(end)).headers['ping-body-limit'], end).to.equal(limit);
    }
    await pinged('', { body: 'x'.repeat(10_000) });
    expect((await suite.stored()).at(-1)?.description).to.equal('x'.repeat(10_000));
  });

  it('records every ping of 40 clients at once, without a rid', async () => {
    for (const end of ['', '/start', '/start', '/fail', '', '/0']) {
      await Promise.all(Array.from({ length: 40 }, () => pinged(end)));
    }
    await Promise.all(
      ['/start', '', '/1', '/start', '/0'].flatMap((end) => Array.from({ length: 8 }, () => pinged(end))),
    );
    const counts = Object.groupBy(await suite.stored(), ({ kind }) => kind);
    expect([counts.END?.length, counts.ERROR?.length]).to.deep.equal([4 * 40 + 3 * 8, 40 + 8]);
    const started = new Set(counts.START?.map(({ executionId }) => executionId));
    expect(started.size).to.equal(counts.START?.length);
    // Each start opened a run, and each end closed one, or was a run of its own.
    expect(started.size).to.be.at.least(2 * 40 + 2 * 8);
    for (const { executionId } of counts.END ?? []) expect(started).to.include(executionId);
    expect(new Set(counts.END?.map(({ executionId }) => executionId)).size).to.equal(counts.END?.length);
  });

  it('continues the run of a start that failed, and of an end that failed', async () => {
    const fail = async (end: string): Promise<void> => {
      const jobs = (await suite.redis.command('get', '{runledger}:events:id')) as string | null;
      await suite.redis.command('set', '{runledger}:events:id', 'so that no job can be added');
      expectProblem(await ping(end), 503, 'unavailable');
      await suite.redis.command('set', '{runledger}:events:id', jobs ?? '0');
    };
    await fail('/start');
    await pinged('/start');
    await fail('/fail');
    await pinged('/fail');
    expect(await runs()).to.deep.equal(['START ERROR END']);
  });

  it('503 for a ping that is being recorded: clients repeat that, and not a 409', async () => {
    await pinged('/start?rid=a');
    expect(await underWay(suite.redis)).to.equal(1);
    expectProblem(await ping('/start?rid=a'), 503, 'unavailable');
  });

  describe('a rid that comes again', () => {
    /** Lets the last pings with a rid be older than they are. */
    async function minutesPass(minutes: number): Promise<void> {
      const [key] = (await suite.redis.command('keys', '*named-runs*')) as [string];
      const [name = ''] = (await suite.redis.command('hkeys', key)) as string[];
      const value = String(await suite.redis.command('hget', key, name));
      const older = value.replace(/\d+/, (time) => String(Number(time) - minutes * 60_000));
      await suite.redis.command('hset', key, name, older);
    }

    it('is a repeat within an hour of the end of its run, and a run of its own afterwards', async () => {
      for (const minutes of [59, 2, 24 * 60]) {
        for (let i = 0; i < 2; i++) await pinged('/start?rid=night');
        for (let i = 0; i < 2; i++) await pinged('?rid=night', { body: 'done' });
        await minutesPass(minutes);
      }
      expect(await runs()).to.deep.equal(['START END', 'START END']);
      await pinged('?rid=night', { body: 'done' });
      await pinged('/log?rid=night');
      expect(await runs()).to.deep.equal(['START END', 'START END', 'END EVENT']);
      expect((await suite.stored())[0]?.executionId).to.equal('night');
    });

    it('is a run of its own also where the last one never ended', async () => {
      await pinged('/start?rid=night');
      await minutesPass(24 * 60);
      await pinged('/start?rid=night');
      await pinged('/0?rid=night');
      expect(await runs()).to.deep.equal(['START', 'START END']);
    });

    it('is the same UUID in each letter case, as for Healthchecks', async () => {
      const rid = randomUUID();
      await pinged(`/start?rid=${rid.toUpperCase()}`);
      await pinged(`/start?rid=${rid}`);
      await pinged(`?rid=${rid}`);
      expect((await suite.stored()).map(({ kind, executionId }) => [kind, executionId])).to.deep.equal([
        ['START', rid],
        ['END', rid],
      ]);
      for (const other of ['a', 'A']) await pinged(`/start?rid=${other}`);
      expect(await runs()).to.have.lengthOf(3);
    });

    it('is forgotten after the names of 64 newer runs, and is its own execution then', async () => {
      for (let run = 0; run < 140; run++) await pinged(`/start?rid=${run}`);
      const [key] = (await suite.redis.command('keys', '*named-runs*')) as [string];
      expect(await suite.redis.command('hlen', key)).to.be.within(64, 128);
      await pinged('?rid=0');
      expect((await suite.stored()).at(-1)?.executionId).to.equal('0');
    });
  });

  describe('a slug', () => {
    it('is the name of an automation, with the id that its page computes', async () => {
      const { client } = suite.ingest;
      for (const end of ['/nightly-backup/start?create=1', '/Nightly-Backup/log', '/nightly-backup']) {
        const answer = await client.send({ method: 'POST', path: `/ping/${pingKey}${end}`, headers: noToken });
        expect([answer.status, answer.body]).to.deep.equal([200, 'OK']);
      }
      expect(await runs()).to.deep.equal(['START EVENT END']);
      const ids = (await suite.stored()).map(({ automationId }) => automationId);
      // Python: uuid5(uuid5(NAMESPACE_URL, 'ping'), 'nightly-backup')
      expect(new Set(ids)).to.deep.equal(new Set(['bb735109-3bd2-5311-8252-11aeeb9ea0db']));
    });

    it('that is a UUID is that automation, and a word that says what happened is none', async () => {
      await pinged('?create=1');
      expect((await suite.stored())[0]?.automationId).to.equal(automation);
      for (const word of ['start', 'log', 'fail', '7', 'a.b', 'a b', 'é', 'x'.repeat(101)]) {
        automation = encodeURIComponent(word);
        const answer = await ping();
        expectProblem(answer, 400, 'malformed-request');
        expect(answer.json()['errors']).to.containSubset([{ parameter: 'automation_id' }]);
      }
    });
  });

  it('takes the key from a header where the address has only the UUID of the automation', async () => {
    const headers = [{ authorization: `Bearer ${pingKey}` }, { token: pingKey }, { 'x-api-key': pingKey }];
    for (const [index, header] of headers.entries()) {
      const path = `/ping/${automation}${['/start', '/0', ''][index]}`;
      const answer = await suite.ingest.client.send({ path, headers: { ...noToken, ...header } });
      expect(answer.status, answer.body).to.equal(200);
    }
    expect(await runs()).to.deep.equal(['START END', 'START END']);
    const path = `/ping/${automation}`;
    expectProblem(await suite.ingest.client.send({ path, headers: noToken }), 401, 'unauthorized');
    expectProblem(await suite.ingest.client.send({ path, headers: { token } }), 403, 'insufficient-scope');
  });

  it('400: a log without a run, an automation that is no UUID and no slug, a rid that cannot be stored', async () => {
    expectProblem(await ping('/log'), 400, 'malformed-request');
    const twice = await ping('?rid=a&rid=b');
    expect(twice.json()['errors']).to.deep.equal([{ parameter: 'rid', detail: 'must be given once' }]);
    for (const rid of ['', 'x'.repeat(256), '%00']) {
      const answer = await ping(`?rid=${rid}`);
      expectProblem(answer, 400, 'malformed-request');
      expect(answer.json()['errors'], rid).to.containSubset([{ parameter: 'rid' }]);
    }
    automation = 'back.up';
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

  it('503 while Redis is nearly full, and keeps nothing; before that, only for new automations', async () => {
    const start = (of: string): Promise<Answer> =>
      suite.ingest.client.send({ method: 'POST', path: `/ping/${pingKey}/${of}/start`, headers: noToken });
    const keys = async (): Promise<number> => ((await suite.redis.command('keys', '*:open-run:*')) as unknown[]).length;
    /** Makes what Redis uses this share of its memory, and waits until ingest knows. */
    const fill = async (share: number, detail: string): Promise<void> => {
      const { used } = await suite.redis.memory();
      await suite.redis.command('config', 'set', 'maxmemory', String(Math.round(used / share)));
      await until('ingest refuses new automations', async () => (await start(randomUUID())).body.includes(detail));
    };
    await pinged('/start');
    try {
      await fill(0.7, 'no room for new runs of pings');
      expectProblem(await start(randomUUID()), 503, 'unavailable');
      await pinged('/start');
      await fill(0.8, 'cannot be stored safely');
      const before = await keys();
      expectProblem(await start(randomUUID()), 503, 'unavailable');
      expect((await start(automation)).status).to.equal(503);
      expect(await keys()).to.equal(before);
    } finally {
      await suite.redis.command('config', 'set', 'maxmemory', '0');
    }
    await until('ingest admits all events again', async () => (await start(randomUUID())).status === 200);
  });

  it('429 for one more automation with a run than an organization may have', async () => {
    const others = `for i = 1, 10000 do redis.call('ZADD', KEYS[1], ARGV[1], i) end`;
    const set = `{runledger}:events:automations-with-run:${hashedName('acme')}`;
    const expiringAt = (at: number) => suite.redis.command('eval', others, '1', set, String(at));
    await expiringAt(Date.now() + 60_000);
    expectProblem(await ping('/start'), 429, 'too-many-requests');
    await pinged();
    await expiringAt(1);
    await pinged('/start');
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
