import { expect } from 'chai';
import { assert, constant, double, integer, property, record, type Arbitrary } from 'fast-check';
import { assumptions } from '../bench/capacity/assumptions.ts';
import type { EventCosts } from '../bench/capacity/costs.ts';
import { replay, type Replayed } from '../bench/capacity/replay.ts';
import { limitsOf, sizeFor } from '../bench/capacity/sizing.ts';
import { traces } from '../bench/capacity/traces.ts';

const hour = 3_600;

/** Costs with CPU times between these, in µs. */
const costsFrom = (min: number, max: number): Arbitrary<EventCosts> => {
  const us = double({ min, max, noNaN: true });
  return record({
    // The bursts decide.
    flow: record({ ingest: us, redis: constant(1), worker: constant(1), postgres: constant(1) }),
    rush: record({ redis: us, worker: us, postgres: us }),
    waiting: integer({ min: 20, max: 2_000 }),
    wal: integer({ min: 100, max: 2_000 }),
    kept: integer({ min: 100, max: 2_000 }),
    cold: constant({ executions: 100, archive: 30 }),
  });
};
const anyCosts = costsFrom(0.5, 500);
const anyRate = integer({ min: 10, max: 1_000_000 });
const highCosts = costsFrom(20, 500);
const manyEvents = integer({ min: 500_000, max: 1_000_000 });

/** A steady hour, a burst as the sizing assumes it, and two hours. */
const burst = (rate: number): number[] =>
  Array.from({ length: 3 * hour }, (_, second) =>
    second >= hour && second < hour + assumptions.burstSeconds ? assumptions.burstFactor * rate : rate,
  );

/** A burst, for an installation of that size with so much of its workers and of its memory. */
function replayBurst(rate: number, costs: EventCosts, { workers = 1, memory = 1 } = {}): Replayed {
  const limits = limitsOf(sizeFor(rate, costs, assumptions), costs, assumptions);
  const less = { ...limits, stores: limits.stores * workers, memory: limits.memory * memory };
  return replay(burst(rate), less, costs.waiting);
}

describe('the sizing of capacity.md', () => {
  it('takes every event of a burst, and stores the last of them in time', () => {
    const holds = property(anyRate, anyCosts, (rate, costs) => {
      const { refused, longest } = replayBurst(rate, costs);
      expect(refused).to.be.lessThan(1);
      expect(longest).to.be.at.most(assumptions.caughtUpSeconds);
    });
    assert(holds, { numRuns: 30 });
  });

  // For rates that need many cores, so that a whole core is no spare.
  it('is too small with half of its workers or of its memory', () => {
    const holds = property(manyEvents, highCosts, (rate, costs) => {
      expect(replayBurst(rate, costs, { workers: 0.5 }).longest).to.be.greaterThan(assumptions.caughtUpSeconds);
      expect(replayBurst(rate, costs, { memory: 0.5 }).refused).to.be.greaterThan(1);
    });
    assert(holds, { numRuns: 10 });
  });
});

describe('a replay', () => {
  const limits = { accepts: 100, stores: 50, memory: 1_000 };

  it('stores at once what workers can take', () => {
    const seen = replay([50, 0, 50], limits, 10);
    expect(seen).to.deep.equal({ refused: 0, mostWaiting: 0, p95: 0, longest: 0 });
  });

  it('keeps what workers cannot take, and stores it in its order', () => {
    const seen = replay([100, 50, 0], limits, 10);
    expect(seen).to.deep.equal({ refused: 0, mostWaiting: 50, p95: 1, longest: 1 });
  });

  it('refuses what ingest cannot take', () => {
    expect(replay([120], limits, 10).refused).to.equal(20);
  });

  it('refuses what Redis has no memory for', () => {
    expect(replay([100, 100, 100], limits, 10)).to.include({ refused: 50, mostWaiting: 100 });
  });

  it('replays traces whose mean is the rate', () => {
    for (const [name, trace] of Object.entries(traces)) {
      const arrived = trace(1_000, () => 0.25);
      const burstAlone = name.startsWith('ten minutes') ? 9 * 600 * 1_000 : 0;
      const mean = (arrived.reduce((sum, each) => sum + each, 0) - burstAlone) / arrived.length;
      expect(mean, name).to.be.closeTo(1_000, 10);
    }
  });
});
