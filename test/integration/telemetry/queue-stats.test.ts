import { expect } from 'chai';
import { jobName, readQueueStats } from '../../../internal/queue/queue-stats.ts';
import { connect, disconnect } from '../../../internal/queue/ioredis-quirks.ts';
import { createProducerRedis } from '../../../internal/queue/redis.ts';
import type { QueueStats } from '../../../internal/queue/queue-metrics.ts';
import { anEvent } from '../../support/events.ts';
import { startIngest } from '../../support/pipeline.ts';
import { plainJob, withQueue } from '../../support/queue.ts';
import { figure } from '../../support/rows.ts';
import { emptyRedis } from '../../support/servers.ts';

async function statsOf(url: string): Promise<QueueStats> {
  const redis = createProducerRedis(url);
  try {
    await connect(redis);
    return await readQueueStats(redis, 'events');
  } finally {
    await disconnect(redis);
  }
}

const batch = (size: number) => plainJob(Array.from({ length: size }, () => anEvent()));

describe('queue stats', () => {
  it('counts events, not jobs, waiting and delayed, and knows the oldest', async () => {
    const redis = await emptyRedis();
    const began = Date.now();
    expect(await statsOf(redis.url)).to.deep.equal({ events: 0, oldestAge: 0 });
    await withQueue(redis.url, async (queue) => {
      await queue.add(jobName(7), batch(7), { timestamp: Date.now() - 90_000 });
      await queue.add(jobName(30), batch(30));
      await queue.add(jobName(500), batch(500), { delay: 60_000 });
    });
    const { events, oldestAge } = await statsOf(redis.url);
    expect(events).to.equal(537);
    expect(oldestAge).to.be.within(90, 90 + (Date.now() - began) / 1_000);
  });

  it('estimates a long queue from the mean of its oldest thousand jobs', async () => {
    const redis = await emptyRedis();
    const data = batch(1);
    await withQueue(redis.url, (queue) =>
      queue.addBulk(Array.from({ length: 2_500 }, () => ({ name: jobName(40), data }))),
    );
    expect((await statsOf(redis.url)).events).to.equal(100_000);
  });

  it('has no value while Redis is unavailable', async () => {
    const redis = await emptyRedis();
    await using ingest = await startIngest({ REDIS_URL: redis.url.replace(/\d+$/, '1') });
    expect(await figure(ingest.telemetry.registry, 'runledger_queue_events')).to.deep.equal(Number.NaN);
  });
});
