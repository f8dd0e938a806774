import { expect } from 'chai';
import { notChecked, type Rejection } from '../../../internal/queue/admission/admission-control.ts';
import type { RedisClient } from '../../../internal/queue/redis.ts';
import { Shards } from '../../../internal/queue/shards/shards.ts';
import { shardMetrics } from '../../../internal/queue/shards/shard-metrics.ts';
import { createTelemetry } from '../../../internal/kit/telemetry/telemetry.ts';
import { figure } from '../../support/rows.ts';

const full: Rejection = { reason: 'redis-memory', detail: 'Redis is nearly full.' };

/** Three shards, whose state a test changes. A pod prefers the first. */
function threeShards(replyMs = 60_000) {
  const { registry, logger } = createTelemetry('ingest', 'silent');
  const state = [0, 1, 2].map(() => ({
    redis: {} as RedisClient,
    queueName: 'events',
    registered: true,
    guard: { rejection: undefined as Rejection | undefined, overflowFull: false, keysFull: false, admittedOnce: true },
  }));
  const shards = new Shards({
    shards: state,
    registry: { has: (redis) => state.some((each) => each.redis === redis && each.registered) },
    metrics: shardMetrics(registry, () => state.map((_, index) => shards.admits(index))),
    logger,
    replyMs,
    home: 0,
  });
  const used: number[] = [];
  const put = (fails: (shard: number) => boolean = () => false): Promise<void> =>
    shards.put(10, (shard) => {
      used.push(shard);
      return fails(shard) ? Promise.reject(new Error(`shard ${shard} failed`)) : Promise.resolve();
    });
  return { state, shards, used, put, counted: (name: string) => figure(registry, `runledger_${name}`) };
}

describe('the shards of the queue', () => {
  it('keep the events of a pod together, and get them again only after another one failed', async () => {
    const { used, put, counted } = threeShards();
    await put();
    await put((shard) => shard === 0);
    await put();
    expect(used).to.deep.equal([0, 0, 1, 1]);
    expect([await counted('events_repeated_total'), await counted('shard_moves_total')]).to.deep.equal([10, 1]);
  });

  it('are left while one rejects events', async () => {
    const { state, shards, used, put } = threeShards();
    await put();
    for (const each of state.slice(0, 2)) each.guard.rejection = full;
    await put();
    expect([used, shards.rejection]).to.deep.equal([[0, 2], undefined]);
    expect([0, 1, 2].map((shard) => shards.admits(shard))).to.deep.equal([false, false, true]);
    for (const each of state) each.guard.rejection = full;
    expect(shards.rejection).to.equal(full);
  });

  it('get events a second time when one gives no reply', async () => {
    const { shards, counted } = threeShards(1);
    const used: number[] = [];
    await shards.put(10, (shard) => {
      used.push(shard);
      return shard === 2 ? Promise.resolve() : new Promise(() => undefined);
    });
    expect([used, await counted('events_repeated_total')]).to.deep.equal([[0, 1, 2], 20]);
  });

  it('are left alone once callers have their 503', async () => {
    const { used, put } = threeShards();
    const late = performance.now() + 2_000;
    const clock = performance.now.bind(performance);
    performance.now = () => (used.length === 0 ? clock() : late);
    try {
      await put(() => true).catch(() => undefined);
    } finally {
      performance.now = clock;
    }
    expect(used).to.deep.equal([0]);
  });

  it('fail with the last error, each tried once', async () => {
    const { used, put } = threeShards();
    const error = await put(() => true).catch((reason: unknown) => reason);
    expect([String(error), used]).to.deep.equal(['Error: shard 2 failed', [0, 1, 2]]);
    // All failed lately: that is no reason to reject events.
    await put();
    expect(used.at(-1)).to.equal(0);
  });

  it('get no event before they are registered, whatever else is wrong', async () => {
    const { state, shards, used, put } = threeShards();
    for (const each of state) each.registered = false;
    expect(shards.rejection).to.include({ reason: notChecked.reason });
    const error = await put().catch((reason: unknown) => reason);
    expect(String(error)).to.match(/not registered yet/);
    expect(used).to.deep.equal([]);
    for (const [index, each] of state.entries()) {
      each.registered = index === 1;
      if (index === 1) each.guard.rejection = full;
    }
    await put();
    expect(used).to.deep.equal([1]);
  });
});
