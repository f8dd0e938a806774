import type { Queue } from 'bullmq';
import { expect } from 'chai';
import { overflowQueue, queueKey } from '../../../internal/queue/keys/keys.ts';
import { OverflowNotes } from '../../../internal/queue/admission/overflow-notes.ts';
import { readQueueClock, type QueueClock } from '../../../internal/queue/clocks/queue-clock.ts';
import { connect, disconnect } from '../../../internal/queue/ioredis-quirks.ts';
import { createProducerRedis } from '../../../internal/queue/redis.ts';
import type { Answer } from '../../support/api-client.ts';
import { anEvent, eventBody } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';
import { underWay } from '../../support/keys.ts';
import { pingKey, startIngest, type RunningIngest } from '../../support/pipeline.ts';
import { plainJob, withQueue } from '../../support/queue.ts';
import { RedisServer } from '../../support/redis-server.ts';
import { figure } from '../../support/rows.ts';
import { emptyRedis } from '../../support/servers.ts';
import { until } from '../../support/until.ts';

/** Longest that a note of ingest may take to Redis on a busy machine, in ms. */
const onTheWay = 5_000;

async function clockOf({ url }: RedisServer): Promise<QueueClock> {
  const redis = createProducerRedis(url);
  redis.on('error', () => undefined);
  try {
    await connect(redis);
    return await readQueueClock(redis, 'events');
  } finally {
    await disconnect(redis);
  }
}

describe('the clock of the queue', function () {
  this.timeout(60_000);

  it('knows the oldest job, waiting or delayed, and the time of Redis', async () => {
    const redis = await emptyRedis();
    const before = Date.now();
    const empty = await clockOf(redis);
    expect(empty.now).to.be.within(before, Date.now());
    expect(empty).to.deep.include({ oldestAt: undefined, admittingAt: undefined, gaps: [], overflow: undefined });
    const job = plainJob([anEvent()]);
    await withQueue(redis.url, async (queue) => {
      await queue.add('1 events', job);
      await queue.add('1 events', job, { timestamp: before - 60_000 });
      expect((await clockOf(redis)).oldestAt).to.equal(before - 60_000);
      await queue.add('1 events', job, { timestamp: before - 90_000, delay: 3_600_000 });
    });
    expect((await clockOf(redis)).oldestAt).to.equal(before - 90_000);
  });

  it('knows the oldest of many jobs that no worker can read, whenever they are due', async () => {
    const redis = await emptyRedis();
    const oldestAt = Date.now() - 600_000;
    const data = plainJob([anEvent()]);
    const jobs = (length: number, timestamp: number, delay: number) =>
      Array.from({ length }, () => ({ name: '1 events', data, opts: { timestamp, delay } }));
    await withQueue(redis.url, async (queue) => {
      await queue.addBulk(jobs(5, oldestAt, 700_000));
      await queue.addBulk(jobs(1_500, Date.now() - 1_000, 30_000));
    });
    expect((await clockOf(redis)).oldestAt).to.equal(oldestAt);
  });

  it('knows the oldest job of a queue that is too long to be read, and gives no later time until it has found it', async () => {
    const redis = await emptyRedis();
    const oldestAt = Date.now() - 600_000;
    const data = plainJob([anEvent()]);
    await withQueue(redis.url, async (queue) => {
      await queue.add('1 events', data, { timestamp: oldestAt, delay: 3_600_000 });
      const opts = { timestamp: oldestAt + 1_000 };
      expect((await clockOf(redis)).oldestAt).to.equal(oldestAt);
      // As if as many jobs had been added and done since the last look.
      await redis.command('set', queueKey('events', 'id'), '12000');
      await queue.addBulk(Array.from({ length: 2_100 }, () => ({ name: '1 events', data, opts })));
      expect((await clockOf(redis)).oldestAt).to.equal(oldestAt);
      await queue.remove('1');
      const seen: (number | undefined)[] = [];
      await until('the oldest job', async () => {
        const { oldestAt: found } = await clockOf(redis);
        seen.push(found);
        return found === oldestAt + 1_000;
      });
      expect(seen).to.deep.equal([oldestAt, oldestAt, oldestAt + 1_000]);
    });
  });

  it('knows the oldest job of the overflow lane, and whose events may be there', async () => {
    const redis = await emptyRedis();
    const oldestAt = Date.now() - 90_000;
    const add = (queue: Queue) => queue.add('1 events', plainJob([anEvent()]), { timestamp: oldestAt });
    await withQueue(redis.url, add, overflowQueue('events'));
    await redis.use(async (client) => {
      const notes = new OverflowNotes(client, 'events');
      await notes.note(['acme']);
      // Had a note before the oldest job was added, and none since.
      await client.zadd(queueKey('events', 'overflowing'), oldestAt - 120_000, 'globex', oldestAt - 500, 'initech');
      // The clock of another pod is ahead: its note stays.
      await client.zadd(queueKey('events', 'overflowing'), Date.now() + 3_600_000, 'umbrella');
      await notes.note(['umbrella']);
      expect(await client.zscore(queueKey('events', 'overflowing'), 'umbrella')).to.satisfy(
        (score: string) => Number(score) > Date.now(),
      );
    });
    const { overflow, oldestAt: oldestOfMain } = await clockOf(redis);
    expect(oldestOfMain).to.equal(undefined);
    expect(overflow?.oldestAt).to.equal(oldestAt);
    expect(overflow?.organizations).to.have.members(['acme', 'initech', 'umbrella']);
  });

  it('rejects without Redis', async () => {
    const redis = await RedisServer.start();
    await redis.kill();
    expect(await failureOf(clockOf(redis))).to.be.an('error');
    await redis.stop();
  });

  it('knows when ingest took events, and when it rejected some', async () => {
    const redis = await RedisServer.start();
    const began = Date.now();
    await using ingest = await startIngest({ REDIS_URL: redis.url });
    const first = await until('a note', async () => {
      const clock = await clockOf(redis);
      return clock.admittingAt !== undefined && clock;
    });
    expect(first.admittingAt).to.be.at.least(began);
    // Nobody knows what happened before the first note.
    expect(first.gaps).to.deep.equal([{ from: 0, until: first.admittingAt }]);

    await redis.kill();
    const rejectedFrom = Date.now();
    await until('a rejection', async () => (await ingest.client.register(eventBody())).status === 503);
    const rejectedUntil = Date.now();
    await redis.startAgain();
    const { gaps } = await until('a note of the rejection', async () => {
      const clock = await clockOf(redis);
      return clock.gaps.length > 1 && clock;
    });
    // Ingest tells Redis how long ago it rejected an event: the way to Redis adds to that.
    expect(gaps).to.have.length(2);
    expect(gaps[1]?.until).to.be.within(rejectedFrom - onTheWay, rejectedUntil + onTheWay);
    expect(gaps[1]?.from).to.be.within(rejectedFrom - onTheWay, gaps[1]?.until ?? 0);
    await ingest.stop();
    await redis.stop();
  });
});

describe('a request that ingest does not serve, even in its last seconds,', function () {
  this.timeout(60_000);
  const path = `/ping/${pingKey}/0190a0b0-0000-7000-8000-000000000001`;

  /** The gaps but the one before the first note, after ingest has stopped. */
  async function gapsOf(redis: RedisServer): Promise<QueueClock['gaps']> {
    return (await clockOf(redis)).gaps.filter(({ from }) => from !== 0);
  }

  /** Expects one gap about the time of the request of `work`, at an ingest that then stops. */
  async function expectGap(
    redis: RedisServer,
    ingest: RunningIngest,
    reason: string,
    work: () => Promise<Answer>,
  ): Promise<void> {
    const before = Date.now();
    const answer = await work();
    const after = Date.now();
    expect(answer.status).to.equal(503);
    expect(await figure(ingest.telemetry.registry, 'runledger_rejections_total', { reason })).to.equal(1);
    await ingest.stop();
    const gaps = await gapsOf(redis);
    expect(gaps).to.have.length(1);
    expect(gaps[0]?.from).to.be.within(before - 5, after + 5);
    expect(gaps[0]?.until).to.be.within(before - 5, after + 5);
  }

  /** Resolves once ingest has noted that it takes events, so that the next note is seconds away. */
  const noted = (redis: RedisServer) => until('a note', async () => (await clockOf(redis)).admittingAt !== undefined);

  it('is a gap: its tokens are not loaded', async () => {
    const redis = await emptyRedis();
    const ingest = await startIngest({ REDIS_URL: redis.url }, () => ({ status: 'not-loaded' }));
    await noted(redis);
    await expectGap(redis, ingest, 'tokens-not-loaded', () => ingest.client.register(eventBody()));
  });

  it('is a gap: the open run of a ping cannot be read', async () => {
    const redis = await emptyRedis();
    const ingest = await startIngest({ REDIS_URL: redis.url });
    await noted(redis);
    expect((await ingest.client.send({ path: `${path}/start` })).status).to.equal(200);
    const [key] = (await redis.command('keys', '*open-run*')) as [string];
    await redis.command('set', key, 'not a hash');
    await expectGap(redis, ingest, 'open-runs', () => ingest.client.send({ path }));
  });

  it('is a gap: its commit failed', async () => {
    const redis = await emptyRedis();
    const ingest = await startIngest({ REDIS_URL: redis.url });
    await noted(redis);
    await redis.command('set', '{runledger}:events:id', 'so that no job can be added');
    await expectGap(redis, ingest, 'commit-failed', () => ingest.client.register(eventBody()));
  });

  it('is a gap: Redis is nearly full, also when ingest stops', async () => {
    const redis = await RedisServer.start();
    const ingest = await startIngest({ REDIS_URL: redis.url, REDIS_MAX_MEMORY_RATIO: '0.01' });
    await noted(redis);
    await redis.command('config', 'set', 'maxmemory', '32mb');
    await until('a full Redis', () => ingest.degraded()['redis']?.includes('nearly full'));
    await expectGap(redis, ingest, 'redis-memory', () => ingest.client.register(eventBody()));
    await redis.stop();
  });

  it('is no gap when another attempt of the same event is under way', async () => {
    const redis = await emptyRedis();
    const ingest = await startIngest({ REDIS_URL: redis.url });
    await noted(redis);
    const event = {
      eventType: 'START',
      eventTime: new Date().toISOString(),
      run: { runId: 'run' },
      job: { namespace: 'a', name: 'b' },
    };
    const send = () => ingest.client.register(event, {}, undefined, '/api/v1/lineage');
    expect((await send()).status).to.equal(200);
    expect(await underWay(redis)).to.equal(1);
    expect((await send()).status).to.equal(503);
    const { registry } = ingest.telemetry;
    expect(await figure(registry, 'runledger_rejections_total', { reason: 'under-way' })).to.equal(1);
    await ingest.stop();
    expect(await gapsOf(redis)).to.deep.equal([]);
  });
});
