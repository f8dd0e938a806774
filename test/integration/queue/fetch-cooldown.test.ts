import { expect } from 'chai';
import { Consumer } from '../../../internal/queue/consumer.ts';
import { createTelemetry } from '../../../internal/kit/telemetry/telemetry.ts';
import { consumerMetrics } from '../../../internal/queue/consumer-metrics.ts';
import { roomyRoom } from '../../support/batcher-limits.ts';
import { anEvent } from '../../support/events.ts';
import { jobCounts, plainJob, withQueue } from '../../support/queue.ts';
import { emptyRedis } from '../../support/servers.ts';
import { until } from '../../support/until.ts';

/** Longer than a busy machine takes for a job. */
const fetchCooldownMs = 5_000;

/** A consumer that tells when it has taken each job. */
function startConsumer(redisUrl: string) {
  const { logger, registry } = createTelemetry('worker', 'silent');
  const takenAt: number[] = [];
  const consumer = new Consumer({
    redis: redisUrl,
    queueName: 'events',
    concurrency: 10,
    room: roomyRoom(),
    fetchCooldownMs,
    lockMs: 15_000,
    handle: () => {
      takenAt.push(performance.now());
      return Promise.resolve('stored');
    },
    abandon: () => undefined,
    drainMs: 500,
    metrics: consumerMetrics(registry),
    logger,
  });
  return { consumer, takenAt };
}

describe('jobs for a consumer', function () {
  this.timeout(60_000);

  it('are taken at once when it is quiet; those that come soon after some were taken gather first', async () => {
    await until('the machine is not too busy to see it', takesAtOnceOrGathers);
  });

  /** False if the machine was slower than the cooldown, as is a consumer that waits too often. */
  async function takesAtOnceOrGathers(): Promise<boolean> {
    const redis = await emptyRedis();
    const { consumer, takenAt } = startConsumer(redis.url);
    const finished = (jobs: number): Promise<true> =>
      until(`${jobs} jobs are finished`, async () => takenAt.length === jobs && (await jobCounts(redis)).active === 0);
    const waitsForMarker = (): Promise<true> =>
      until('it waits for the next job', async () =>
        /^blocked_clients:1\r$/m.test(String(await redis.command('info', 'clients'))),
      );
    await consumer.start();
    try {
      return await withQueue(redis.url, async (queue) => {
        const add = (): Promise<unknown> => queue.add('events', plainJob([anEvent()]));
        await waitsForMarker();
        const addedAt = performance.now();
        await add();
        await finished(1);
        await add();
        await add();
        await finished(3);
        const [first = Infinity, second = 0, third = Infinity] = takenAt;
        // A timer may be a millisecond early.
        expect(second - addedAt).to.be.above(fetchCooldownMs - 10);
        await waitsForMarker();
        return first - addedAt < fetchCooldownMs && third - second < fetchCooldownMs;
      });
    } finally {
      await consumer.stop();
    }
  }
});
