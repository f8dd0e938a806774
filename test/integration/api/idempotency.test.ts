import { expect } from 'chai';
import { inBothModes } from '../../support/api-modes.ts';
import type { Answer } from '../../support/api-client.ts';
import { eventBody } from '../../support/events.ts';
import { keyHashes, underWay } from '../../support/keys.ts';
import { startWorker, token } from '../../support/pipeline.ts';
import { expectProblem } from '../../support/problem.ts';
import { query } from '../../support/postgres-server.ts';
import type { RedisServer } from '../../support/redis-server.ts';
import { migratedUrl } from '../../support/store.ts';
import { until } from '../../support/until.ts';
import type { Authentication } from '../../../internal/cluster/tokens/token-source.ts';

const otherToken = 'test-token-of-globex-0123456789';
/** By organization: names that joined to a key would be the same. */
const tokens = new Map(['a', 'a:b'].map((name) => [name, `test-token-of-${name}-0123456789`]));

inBothModes('Idempotency-Key', ({ suiteIngest }) => {
  const suite = suiteIngest(() => ({}), authenticate);
  const register = (body: unknown, key: string, headers: Record<string, string | undefined> = {}): Promise<Answer> =>
    suite.ingest.client.register(body, { 'idempotency-key': key, ...headers });

  it('repeats the first 201, and stores one event', async () => {
    const body = eventBody({ event: 'ERROR', error_id: 'E 1 🪵' });
    const first = await register(body, 'k');
    const again = await register(body, 'k');

    expect(first.status).to.equal(201);
    expect(again.status).to.equal(201);
    expect(again.body).to.equal(first.body);
    expect(await suite.stored()).to.have.lengthOf(1);
  });

  it('costs no call of Redis of its own, alone or among others', async () => {
    const calls = async (work: () => Promise<unknown>): Promise<number> => {
      await suite.redis.command('config', 'resetstat');
      await work();
      const stats = String(await suite.redis.command('info', 'commandstats'));
      return Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(stats)?.[1]);
    };
    await register(eventBody(), 'the first, with the text of the script');
    expect(await calls(() => register(eventBody(), 'k'))).to.equal(1);
    const others = (): Promise<unknown> =>
      Promise.all(Array.from({ length: 40 }, (_, at) => register(eventBody(), `${at}`)));
    expect(await calls(others)).to.be.below(40);
  });

  it('is remembered for 24 hours, and forgotten within twice that time', async () => {
    const body = eventBody();
    const first = await register(body, 'k');
    await hoursPass(suite.redis, 23);
    expect((await register(body, 'k')).body).to.equal(first.body);
    // The generation of the key ends here, and the one after it later.
    await hoursPass(suite.redis, 2);
    expect((await register(body, 'k')).body).to.equal(first.body);
    await hoursPass(suite.redis, 23);
    expect((await register(body, 'k')).body).to.equal(first.body);
    await hoursPass(suite.redis, 2);
    expect((await register(body, 'k')).headers['receipt-id']).to.not.equal(first.headers['receipt-id']);
    expect(await keyHashes(suite.redis), 'the first generation is gone').to.have.lengthOf(1);
  });

  describe('with IDEMPOTENCY_HOURS', () => {
    const longer = suiteIngest(() => ({ IDEMPOTENCY_HOURS: '72' }), authenticate);
    it('is remembered for that long', async () => {
      const body = eventBody();
      const send = () => longer.ingest.client.register(body, { 'idempotency-key': 'k' });
      const first = await send();
      for (const hours of [71, 2, 71]) {
        await hoursPass(longer.redis, hours);
        expect((await send()).body).to.equal(first.body);
      }
      await hoursPass(longer.redis, 2);
      expect((await send()).body).to.not.equal(first.body);
    });
  });

  it('does not mind what is ignored: order, spaces, extra fields, null for absent', async () => {
    const body = eventBody();
    const first = await register(body, 'k');
    const rewritten = Object.fromEntries(Object.entries(body).toReversed());
    const again = await register(JSON.stringify({ ...rewritten, description: null, extra: 1 }, null, 2), 'k');
    expect(again.body).to.equal(first.body);
  });

  it('does not mind how a value is written: letter case of the automation, zone and digits of the time', async () => {
    const time = new Date(Date.now() - 60_000).toISOString().replace(/\.\d+Z/, '.250Z');
    const body = eventBody({ occurred_at: time });
    const first = await register(body, 'k');
    const inTokyo = new Date(Date.parse(time) + 9 * 3_600_000).toISOString().replace('.250Z', '.25+09:00');
    const others = [
      { ...body, automation_id: String(body['automation_id']).toUpperCase() },
      { ...body, occurred_at: time.replace('.250Z', '.250000Z') },
      { ...body, occurred_at: inTokyo },
      { ...body, description: '', error_id: '', error_description: '' },
    ];
    for (const other of others) {
      const again = await register(other, 'k');
      expect([again.status, again.headers['receipt-id']], again.body).to.deep.equal([201, first.headers['receipt-id']]);
      const bulk = [{ ...other, idempotency_key: 'k' }];
      expect((await suite.ingest.client.register(bulk, {}, undefined, '/v1/register/bulk/')).status).to.equal(201);
    }
    expect(await suite.stored()).to.have.lengthOf(1);
  });

  it('is refused with 422 for another body, which is not stored', async () => {
    const body = eventBody();
    await register(body, 'k');
    const answer = await register({ ...body, description: 'other' }, 'k');

    expectProblem(answer, 422, 'idempotency-key-reused');
    expect(await suite.stored()).to.have.lengthOf(1);
    expect((await register(body, 'k')).status).to.equal(201);
  });

  it('is refused with 422 for another time, and not for the same', async () => {
    const [time, later] = [60_000, 59_000].map((ago) => new Date(Date.now() - ago).toISOString());
    const body = eventBody({ occurred_at: time });
    const first = await register(body, 'k');
    expect((await register(body, 'k')).body).to.equal(first.body);
    expectProblem(await register({ ...body, occurred_at: later }, 'k'), 422, 'idempotency-key-reused');
    expectProblem(await register({ ...body, occurred_at: null }, 'k'), 422, 'idempotency-key-reused');
    expect(await suite.stored()).to.have.lengthOf(1);
  });

  it('is the same key in quotes and without', async () => {
    const body = eventBody();
    const first = await register(body, '"8e03978e-40d5-43dd-bc93-6894a57f9324"');
    expect((await register(body, '8e03978e-40d5-43dd-bc93-6894a57f9324')).body).to.equal(first.body);
  });

  it('belongs to an organization', async () => {
    const body = eventBody();
    const mine = await register(body, 'k');
    const theirs = await register({ ...body, description: 'other' }, 'k', { token: otherToken });

    expect([mine.status, theirs.status]).to.deep.equal([201, 201]);
    expect((await suite.stored()).map(({ organization }) => organization)).to.deep.equal(['acme', 'globex']);
  });

  it('cannot be that of another organization, whatever their names', async () => {
    const [body, other] = [eventBody(), eventBody()];
    const one = await register(body, 'b:c', { token: tokens.get('a') });
    const two = await register(other, 'c', { token: tokens.get('a:b') });
    const same = await register(body, 'c', { token: tokens.get('a:b') });

    expect([one.status, two.status]).to.deep.equal([201, 201]);
    expectProblem(same, 422, 'idempotency-key-reused');
    const stored = (await suite.stored()).map(({ organization, executionId }) => [organization, executionId]);
    expect(stored).to.deep.equal([
      ['a', body['execution_id']],
      ['a:b', other['execution_id']],
    ]);
  });

  it('is optional: without it every request is an event', async () => {
    const body = eventBody();
    await suite.ingest.client.register(body);
    await suite.ingest.client.register(body);
    expect(await suite.stored()).to.have.lengthOf(2);
  });

  for (const key of ['', '""', '"', 'a b', '"a', 'a"', 'a\\b', 'ä', 'x'.repeat(256), '"a", "b"', '\tx y']) {
    it(`is refused with 400 when malformed: ${JSON.stringify(key.slice(0, 12))}`, async () => {
      const answer = await register(eventBody(), key);

      expectProblem(answer, 400, 'malformed-request');
      expect(answer.json()).to.have.nested.property('errors[0].header', 'Idempotency-Key');
      expect(await suite.stored()).to.deep.equal([]);
    });
  }

  it('may be 255 characters long', async () => {
    expect((await register(eventBody(), `"${'~'.repeat(255)}"`)).status).to.equal(201);
  });

  it('is not used up by a request that was refused', async () => {
    const answer = await register(eventBody({ event: 'start' }), 'k');
    expect(answer.status).to.equal(400);
    expect((await register(eventBody(), 'k')).status).to.equal(201);
  });

  it('gives one event to any number of requests at once; those that come too early learn so', async () => {
    const body = eventBody();
    const answers = await Promise.all(Array.from({ length: 20 }, () => register(body, 'k')));

    const done = answers.filter(({ status }) => status === 201);
    expect(new Set(done.map((answer) => answer.body)).size).to.equal(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) expectInProgress(answer);
    expect(await suite.stored()).to.have.lengthOf(1);
  });

  it('is refused with 409 while the first request is under way, and free again when that one is given up', async () => {
    const body = eventBody();
    const first = await register(body, 'k');
    // As an ingest pod leaves it that died between the reservation and the acknowledgement of
    // Redis.
    expect(await underWay(suite.redis)).to.equal(1);
    expectInProgress(await register(body, 'k'));

    await underWay(suite.redis, -1);
    const retry = await register(body, 'k');
    expect(retry.status).to.equal(201);
    expect(retry.body).to.equal(first.body);
    const [one, two] = await suite.stored();
    expect(one).to.deep.equal(two);
  });

  it('may come twice in a request, but not with two values', async () => {
    const body = eventBody();
    const twice = (...keys: string[]) => suite.ingest.client.register(body, { 'idempotency-key': keys });
    const answers = [await register(body, 'k'), await twice('k', 'k'), await twice('"k"', '"k"')];
    expect(answers.map(({ status }) => status)).to.deep.equal([201, 201, 201]);
    expect(await suite.stored()).to.have.lengthOf(1);
    expectProblem(await twice('k', 'l'), 400, 'malformed-request');
  });

  it('is named among all that is wrong with a request', async () => {
    const { event: _, ...withoutKind } = eventBody();
    const answer = await suite.ingest.client.register(withoutKind, { 'idempotency-key': 'with a space' });
    expectProblem(answer, 400, 'invalid-event');
    const { errors } = answer.json<{ errors: { pointer?: string; header?: string }[] }>();
    expect(errors.map(({ pointer, header }) => pointer ?? header)).to.deep.equal(['/event', 'Idempotency-Key']);
  });

  function expectInProgress(answer: Answer): void {
    expectProblem(answer, 409, 'request-in-progress');
    expect(answer.headers['retry-after']).to.match(/^[1-9]\d*$/);
  }
});

inBothModes('Idempotency-Key, when Redis does not answer', ({ startIngest, suiteIngest }) => {
  const suite = suiteIngest(() => ({}), authenticate);

  it('makes a retry safe: what came of the first request or not, there is one event', async () => {
    const body = eventBody();
    const settings = { REDIS_URL: suite.redis.url, DATABASE_URL: await migratedUrl() };
    suite.redis.signal('SIGSTOP');
    const lost = await suite.ingest.client
      .register(body, { 'idempotency-key': 'k' })
      .finally(() => suite.redis.signal('SIGCONT'));
    expect(lost.status).to.equal(503);
    expect(lost.headers['retry-after']).to.match(/^[1-9]\d*$/);

    // The first request may still be under way for all that Redis knows, until its lease ends: here
    // and now.
    await until('the reservation', async () => (await underWay(suite.redis, -1)) === 1);

    await using ingest = await startIngest(settings);
    const retried = await ingest.client.register(body, { 'idempotency-key': 'k' });
    expect(retried.status, retried.body).to.equal(201);
    await using worker = await startWorker(settings);
    expect(worker).to.not.equal(undefined);

    const rows = await until('the event', async () => {
      const found = await query(settings.DATABASE_URL, 'select created_at from events');
      return found.length > 0 ? found : undefined;
    });
    await until('an empty queue', async () => ((await suite.stored()).length === 0 ? true : undefined));
    expect(rows.map((row) => (row['created_at'] as Date).toISOString())).to.deep.equal([retried.json()['created_at']]);
    expect(await query(settings.DATABASE_URL, 'select 1 from events')).to.have.lengthOf(1);
  });
});

/** Lets the generation of the keys be older than it is. */
async function hoursPass(redis: RedisServer, hours: number): Promise<void> {
  const record = '{runledger}:events:idempotency';
  const began = Number(await redis.command('hget', record, 'began'));
  await redis.command('hset', record, 'began', String(began - hours * 3_600_000));
}

function authenticate(given: string): Authentication {
  if (given === token) return { status: 'known', organization: 'acme', scope: 'write', tokenId: '0123456789ab' };
  for (const [organization, one] of tokens) {
    if (given === one) return { status: 'known', organization, scope: 'write', tokenId: '0011223344ff' };
  }
  if (given === otherToken) return { status: 'known', organization: 'globex', scope: 'write', tokenId: 'ba9876543210' };
  return { status: 'unknown' };
}
