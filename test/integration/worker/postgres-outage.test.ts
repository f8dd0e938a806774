import { expect } from 'chai';
import { failing } from '../../../internal/kit/ops/probes.ts';
import { Callers, expectOnlyRedisRejects } from '../../support/callers.ts';
import { startIngest, startWorker } from '../../support/pipeline.ts';
import { PostgresServer } from '../../support/postgres-server.ts';
import { jobCounts } from '../../support/queue.ts';
import { expectStored, figure } from '../../support/rows.ts';
import { emptyRedis } from '../../support/servers.ts';
import { until } from '../../support/until.ts';

describe('an outage of Postgres', function () {
  this.timeout(60_000);
  let postgres: PostgresServer;
  beforeEach(async () => {
    postgres = await PostgresServer.start();
  });
  afterEach(() => postgres.stop());

  it('under load: ingest rejects nothing because of it, the worker holds, and all is stored within 10 s of its return', async () => {
    const redis = await emptyRedis();
    const settings = { REDIS_URL: redis.url, DATABASE_URL: await postgres.createDatabase() };
    await using worker = await startWorker(settings);
    await using ingest = await startIngest(settings);
    const callers = new Callers(ingest.client, 16);
    await until('events come in', () => callers.accepted.length > 100);
    await postgres.kill();
    const holding = () => figure(worker.telemetry.registry, 'runledger_store_retrying');
    await until('the worker holds', async () => (await holding()) === 1);
    const { ready, live } = worker.telemetry.probes;
    await until('readiness names Postgres', () => 'postgres' in failing(ready));
    await until('a retry', async () => (await figure(worker.telemetry.registry, 'runledger_store_retries_total')) > 0);
    expect(failing(live), 'no reason to restart the worker').to.deep.equal({});
    const before = callers.accepted.length;
    await until('more events come in', () => callers.accepted.length > before + 200);
    expect(await jobCounts(redis)).to.include({ failed: 0, delayed: 0 });
    await postgres.startAgain();
    await callers.stop();

    await expectOnlyRedisRejects(ingest, callers);
    await expectStored(settings.DATABASE_URL, callers.accepted);
    await until('holding no more', async () => (await holding()) === 0);
    expect(await jobCounts(redis)).to.include({ failed: 0 });
  });

  it('at the start of a worker: it starts, and works once Postgres is there', async () => {
    const redis = await emptyRedis();
    const database = await postgres.createDatabase();
    const settings = { REDIS_URL: redis.url, DATABASE_URL: database };
    await (await startWorker(settings))[Symbol.asyncDispose]();
    await using ingest = await startIngest(settings);
    await postgres.kill();
    await using worker = await startWorker(settings, { migrate: false });
    const callers = new Callers(ingest.client, 2);
    const { registry } = worker.telemetry;
    await until('the worker holds', async () => (await figure(registry, 'runledger_store_retrying')) === 1);
    await until('maintenance fails', async () => (await figure(registry, 'runledger_maintenance_failures_total')) > 0);
    await postgres.startAgain();
    await callers.stop();
    await expectStored(database, callers.accepted);
  });
});
