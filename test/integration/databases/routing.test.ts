import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { failing } from '../../../internal/kit/ops/probes.ts';
import { queueKey, waitingQueue } from '../../../internal/queue/keys/keys.ts';
import { Callers, expectOnlyRedisRejects } from '../../support/callers.ts';
import { sql } from '../../../internal/store/sql.ts';
import { anEvent, eventBody } from '../../support/events.ts';
import { freePort } from '../../support/free-port.ts';
import { startIngest, startWorker } from '../../support/pipeline.ts';
import { PostgresServer, query } from '../../support/postgres-server.ts';
import { plainJob, withQueue } from '../../support/queue.ts';
import { RedisServer } from '../../support/redis-server.ts';
import { replicated, startReplica } from '../../support/replica.ts';
import { expectStored, figure, storedMarks } from '../../support/rows.ts';
import { emptyRedis } from '../../support/servers.ts';
import { migrate, migratedDatabase } from '../../support/store.ts';
import { logKey } from '../../support/sealed-ledger.ts';
import { place, tokenNamesOrganization, twoDatabases } from '../../support/two-databases.ts';
import { until } from '../../support/until.ts';

describe('events of several databases', function () {
  this.timeout(180_000);
  let postgres: PostgresServer;
  before(async () => {
    postgres = await PostgresServer.start();
  });
  after(() => postgres.stop());

  it('get their place in the log of their organization, in its database', async () => {
    const redis = await emptyRedis();
    await using databases = await twoDatabases();
    const { first, eu, settings } = databases;
    await place(first.db, 'globex', 'eu');
    const common = { REDIS_URL: redis.url, ...settings };
    await using _worker = await startWorker({ ...common, LEDGER_KEY: logKey });
    await using ingest = await startIngest(common, tokenNamesOrganization);
    for (const token of ['acme', 'globex']) await ingest.client.register(eventBody(), { token });
    for (const [organization, { db }] of [['acme', first] as const, ['globex', eu] as const]) {
      await until(`the checkpoint of ${organization}`, async () => {
        const { rows } = await sql`select organization, size::integer from log_checkpoints`.execute(db);
        return isDeepStrictEqual(rows, [{ organization, size: 1 }]);
      });
    }
  });

  it('go to the database of their organization; an unavailable one delays no other, and loses nothing', async () => {
    const redis = await emptyRedis();
    await using first = await migratedDatabase();
    const eu = await postgres.createDatabase();
    await migrate(eu);
    await place(first.db, 'globex', 'eu');
    const settings = {
      REDIS_URL: redis.url,
      DATABASE_URL: first.url,
      DATABASE_URLS: `eu=${eu}`,
      WORKER_CONCURRENCY: '3',
    };
    await using worker = await startWorker(settings);
    await using ingest = await startIngest(settings, tokenNamesOrganization);
    const sendAs = (organization: string) => (event: object) => ingest.client.register(event, { token: organization });
    await using acme = new Callers(ingest.client, 4, sendAs('acme'));
    await using globex = new Callers(ingest.client, 4, sendAs('globex'));
    await Promise.all([acme.more(201, 50), globex.more(201, 50)]);

    await postgres.kill();
    const { registry, probes } = worker.telemetry;
    const setAside = () => figure(registry, 'runledger_events_set_aside_total', { database: 'eu' });
    await until('events are set aside', async () => (await setAside()) > 0);
    // More jobs than the worker has places: each has events of both organizations, or of one.
    await Promise.all([acme.more(201, 200), globex.more(201, 200)]);
    await expectStored(first.url, acme.accepted);
    const ready = () => Object.keys(failing(probes.ready)).length === 0;
    await until('it is ready for the organizations of the first database', ready);
    await until('it says which one is unavailable', () => 'postgres eu' in failing(probes.degraded));
    expect(await figure(registry, 'runledger_store_retrying', { database: 'eu' })).to.equal(1);
    expect(await figure(registry, 'runledger_store_retrying', { database: 'first' })).to.equal(0);

    await postgres.startAgain();
    await Promise.all([acme.stop(), globex.stop()]);
    await expectStored(eu, globex.accepted);
    await expectStored(first.url, acme.accepted);
    for (const [database, { answers }] of [[eu, globex] as const, [first.url, acme] as const]) {
      expect(answers.map(({ mark }) => mark)).to.include.members(await storedMarks(database));
    }
    await expectOnlyRedisRejects(ingest, acme, globex);
    await until('no job is left', () =>
      withQueue(redis.url, async (queue) => (await queue.count()) === 0, waitingQueue('events', 'eu')),
    );
    // The outage may have interrupted the first run of the maintenance, which then tries again.
    const partitions = `select count(*)::integer as days from pg_class where relkind = 'r' and relname ~ '^events_2'`;
    await until('maintenance', async () => (await query(eu, partitions))[0]?.['days'] === 8);
  });

  it('stay in their original job until their copy is as durable as a 201', async () => {
    const redis = await RedisServer.start(replicated);
    await using replica = await startReplica(redis);
    await using first = await migratedDatabase();
    await place(first.db, 'globex', 'eu');
    const settings = {
      REDIS_URL: redis.url,
      REDIS_ACKS: '1',
      REQUIRE_DURABLE_REDIS: 'true',
      DATABASE_URL: first.url,
      DATABASE_URLS: `eu=postgres://nobody@127.0.0.1:${await freePort()}/away`,
    };
    await redis.command('config', 'set', 'appendfsync', 'everysec');
    const worker = await startWorker(settings, { migrate: false });
    /** Adds a job, and resolves with its key once a worker took it and gave it back. */
    const addAndGetBack = async (): Promise<string> => {
      const data = plainJob([anEvent({ organization: 'globex' })]);
      const { id = '' } = await withQueue(redis.url, (queue) => queue.add('1 events', data));
      const job = queueKey('events', id);
      await until('the job came back', async () => Number(await redis.command('hget', job, 'ats')) >= 2);
      return job;
    };
    const isSetAside = (job: string) =>
      until('it is set aside', async () => (await redis.command('exists', job)) === 0);
    const copies = queueKey(waitingQueue('events', 'eu'), '[0-9]*');

    const one = await addAndGetBack();
    expect(await redis.command('keys', copies), 'in a Redis that may lose them').to.deep.equal([]);
    await redis.command('config', 'set', 'appendfsync', 'always');
    await isSetAside(one);

    replica.server.signal('SIGSTOP');
    const other = await addAndGetBack();
    replica.server.signal('SIGCONT');
    await isSetAside(other);
    expect(await replica.server.command('keys', copies)).to.have.length.above(1);
    await worker[Symbol.asyncDispose]();
    await redis.stop();
  });
});
