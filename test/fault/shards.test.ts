import { expect } from 'chai';
import { flawless } from '../support/fault/audit.ts';
import type { Ledger } from '../support/fault/ledger.ts';
import { sharedSystem } from '../support/fault/shared-system.ts';
import type { System } from '../support/fault/system.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { until } from '../support/until.ts';

/** Longest time with 503s and no 201, in ms. A machine that stops has no answers at all. */
function longest503({ samples }: Ledger): number {
  let longest = 0;
  let first: number | undefined;
  for (const { status, ended } of samples) {
    if (status === 201) first = undefined;
    if (status !== 503) continue;
    first ??= ended;
    longest = Math.max(longest, ended - first);
  }
  return longest;
}

describe('shards of the queue', () => {
  let system: System;
  let others: RedisServer[];

  before(async () => {
    system = await sharedSystem();
    others = await Promise.all([1, 2, 3].map(() => system.startRedis()));
  });

  after(() => Promise.all(others.map((redis) => redis.stop())));

  it('from one to four, each killed, and back to one under load: nothing lost, no 503 for 2 s', async () => {
    const load = system.startLoad({ rate: 100 });
    const moreReceipts = async (): Promise<void> => {
      const before = load.ledger.count(201);
      await until('100 more receipts', () => load.ledger.count(201) > before + 100, 60_000);
    };
    await moreReceipts();
    await system.useShards(others);
    for (const redis of [system.redis, ...others]) {
      await redis.kill();
      await moreReceipts();
      await redis.startAgain();
      await until('each ingest uses all shards', () => system.admits(4), 60_000);
      // A key is in two shards: that both fail while a caller repeats a request is a known limit.
      await load.underWayEnded();
    }
    await system.useShards([], others);
    await moreReceipts();
    const { found } = await system.settle(load);
    await system.useShards([], [], ['worker-1', 'worker-2']);

    expect(found, found.findings.join('\n')).to.include(flawless);
    expect(longest503(load.ledger)).to.be.below(2_000);
    expect(system.crashes).to.equal(0);
    const refused = load.ledger.count(503);
    console.log(`      ${refused} of ${load.ledger.samples.length} answers 503, for ${longest503(load.ledger)} ms`);
  });
});
