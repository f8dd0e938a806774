import { expect } from 'chai';
import { Consumer } from '../../../internal/queue/consumer.ts';
import { createStore } from '../../../internal/store/store.ts';
import { createTelemetry } from '../../../internal/kit/telemetry/telemetry.ts';
import { consumerMetrics } from '../../../internal/queue/consumer-metrics.ts';
import { storeMetrics } from '../../../internal/worker/worker-metrics.ts';
import { Batcher } from '../../../internal/worker/batcher.ts';
import { IsolatingStore } from '../../../internal/worker/isolating-store.ts';
import { anEvent } from '../../support/events.ts';
import { startWorker } from '../../support/pipeline.ts';
import { jobCounts, plainJob, withQueue } from '../../support/queue.ts';
import { RedisServer } from '../../support/redis-server.ts';
import { Forwarder } from '../../support/forwarder.ts';
import { expectStored } from '../../support/rows.ts';
import { emptyRedis } from '../../support/servers.ts';
import { migratedDatabase, migratedUrl, openDatabase, type TestDatabase } from '../../support/store.ts';
import { roomyLimits, roomyRoom } from '../../support/batcher-limits.ts';
import { until } from '../../support/until.ts';

const drainMs = 500;

/** A consumer and its batcher, with a shorter drain than the worker's unless told otherwise. */
function startConsumer(redisUrl: string, databaseUrl: string, longestDrainMs = drainMs) {
  const { logger, registry } = createTelemetry('worker', 'silent');
  const db = openDatabase(databaseUrl);
  const store = createStore(db, { partitionsAhead: 1, retentionDays: 0, overdueAfterHours: 24 });
  const limits = { ...roomyLimits, batchEvents: 2, statementsInFlight: 2, retryMinMs: 20, retryMaxMs: 200 };
  const metrics = storeMetrics(registry);
  let handled = 0;
  const batcher = new Batcher(new IsolatingStore(store, metrics, logger), limits, metrics, logger);
  const consumer = new Consumer({
    redis: redisUrl,
    queueName: 'events',
    concurrency: 10,
    room: roomyRoom(),
    fetchCooldownMs: 7,
    lockMs: 15_000,
    handle: (events) => {
      handled += 1;
      return batcher.add(events);
    },
    abandon: () => batcher.abandon(),
    drainMs: longestDrainMs,
    metrics: consumerMetrics(registry),
    logger,
  });
  return { consumer, db, handled: () => handled, stop: () => consumer.stop().then(() => db.destroy()) };
}

describe('stopping a worker', function () {
  this.timeout(60_000);
  let database: TestDatabase;
  let network: Forwarder;
  let through: string;
  beforeEach(async () => {
    database = await migratedDatabase();
    network = await Forwarder.start(Number(new URL(database.url).port));
    through = Object.assign(new URL(database.url), { port: String(network.port) }).href;
  });
  afterEach(async () => {
    await network[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  const absences: Record<string, () => string> = {
    'refuses connections': () => 'postgres://postgres@127.0.0.1:1/none',
    'is there and silent': () => {
      network.stall();
      return through;
    },
  };
  for (const [name, absent] of Object.entries(absences)) {
    it(`gives its jobs back in time, unharmed, while Postgres ${name}`, async () => {
      const redis = await emptyRedis();
      const events = Array.from({ length: 15 }, (_, index) => anEvent({ description: String(index) }));
      await withQueue(redis.url, (queue) => Promise.all(events.map((event) => queue.add('events', plainJob([event])))));
      const worker = startConsumer(redis.url, absent());
      await worker.consumer.start();
      await until('it has taken what it can', () => worker.handled() === 10);

      // By the clock a timer may be early. One that is set later does not fire before this one.
      let drained = false;
      setTimeout(() => (drained = true), drainMs);
      await worker.consumer.stop();
      expect(drained, 'it waits as long as it may').to.equal(true);
      await worker.stop();
      expect(await jobCounts(redis)).to.deep.equal({ wait: 15, active: 0, delayed: 0, failed: 0 });
      const attempts = await withQueue(redis.url, async (queue) =>
        (await queue.getWaiting()).map((job) => job.attemptsMade),
      );
      expect(attempts).to.deep.equal(Array(15).fill(0));

      await using next = await startWorker({ REDIS_URL: redis.url, DATABASE_URL: database.url });
      expect(next).to.not.equal(undefined);
      await expectStored(
        database.url,
        events.map(({ description }) => description),
      );
    });
  }

  it('finishes what it has taken, takes no more, and may be done twice or before a start', async () => {
    const redis = await emptyRedis();
    const worker = startConsumer(redis.url, database.url, 30_000);
    await worker.consumer.stop();
    await withQueue(redis.url, (queue) =>
      queue.addBulk(
        Array.from({ length: 300 }, (_, index) => ({
          name: 'events',
          data: plainJob([anEvent({ description: String(index) })]),
        })),
      ),
    );
    await worker.consumer.start();
    await until('it works', async () => ((await jobCounts(redis)).wait < 300 ? true : undefined));
    await Promise.all([worker.consumer.stop(), worker.consumer.stop()]);
    await worker.stop();
    const { wait, active, delayed, failed } = await jobCounts(redis);
    expect([active, delayed, failed]).to.deep.equal([0, 0, 0]);
    const stored = await database.db.selectFrom('events').select('description').execute();
    expect(stored).to.have.length(300 - wait);
  });

  it('leaves its jobs to be recovered when Redis has gone, and does not wait for it', async () => {
    const redis = await RedisServer.start();
    try {
      await withQueue(redis.url, (queue) => queue.add('events', plainJob([anEvent({ description: 'kept' })])));
      network.stall();
      const worker = startConsumer(redis.url, through);
      await worker.consumer.start();
      await until('it has taken the job', async () => ((await jobCounts(redis)).active === 1 ? true : undefined));
      await redis.kill();
      await worker.consumer.stop();
      await worker.stop();
      await redis.startAgain();
      await redis.command('del', '{runledger}:events:1:lock');
      const url = await migratedUrl();
      await using next = await startWorker({ REDIS_URL: redis.url, DATABASE_URL: url, JOB_LOCK_MS: '1000' });
      expect(next).to.not.equal(undefined);
      await expectStored(url, ['kept']);
    } finally {
      await redis.stop();
    }
  });
});
