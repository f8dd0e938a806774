import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { sealerMetrics } from '../../../internal/worker/sealer-metrics.ts';
import { createTelemetry } from '../../../internal/kit/telemetry/telemetry.ts';
import { sealerLimits, type SealerLimits } from '../../../internal/worker/seal-schedule.ts';
import { Sealer, type SealedStore } from '../../../internal/worker/sealer.ts';
import { figure } from '../../support/rows.ts';

/** A sealer whose rounds can be awaited. `find`: what a round finds, by its number from 1. */
function sealerOf(find: (round: number) => Promise<number | undefined>, limits: Partial<SealerLimits> = {}) {
  const { logger, registry } = createTelemetry('worker', 'silent');
  let rounds = 0;
  const reached = Array.from({ length: 10 }, () => Promise.withResolvers<undefined>());
  const store: SealedStore = {
    retryRefused: () => Promise.resolve(),
    cosign: () => Promise.resolve([]),
    signLedgers: () =>
      Promise.resolve({ signed: 1, refused: rounds === 3 ? [{ organization: 'acme', reason: 'smaller' }] : [] }),
    extendLedgers: async () => {
      rounds += 1;
      reached[rounds]?.resolve(undefined);
      const placed = await find(rounds);
      return placed === undefined ? undefined : { placed, refused: [] };
    },
  };
  // Longer than the test may take: only what a test does begins a round.
  const never = { intervalMs: 3_600_000, retryMs: 3_600_000 };
  const sealer = new Sealer(store, { ...sealerLimits, ...never, ...limits }, sealerMetrics(registry), logger);
  return {
    sealer,
    count: () => rounds,
    reached: (round: number) => reached[round]?.promise,
    failures: () => figure(registry, 'runledger_log_failures_total'),
    [Symbol.asyncDispose]: () => sealer.stop(),
  };
}

describe('the rounds of the sealer', () => {
  it('begin at the start, at the first event after a quiet time, and after so many events', async () => {
    await using rounds = sealerOf((round) => Promise.resolve(round === 2 ? 1 : 0));
    await rounds.sealer.start();
    await rounds.reached(1);
    rounds.sealer.onStored(1);
    await rounds.reached(2);
    rounds.sealer.onStored(sealerLimits.events - 1);
    rounds.sealer.onStored(1);
    await rounds.reached(3);
  });

  it('wait while statements are full, until one is not or for long enough', async () => {
    const drain = { drainMs: 3_600_000, drainWaitMs: 3_600_000 };
    await using rounds = sealerOf((round) => Promise.resolve(round === 1 ? 1 : 0), drain);
    await rounds.sealer.start();
    await rounds.reached(1);
    await setImmediate();
    for (const _ of [1, 2, 3]) rounds.sealer.onStored(sealerLimits.events, true);
    await setImmediate();
    expect(rounds.count()).to.equal(1);
    rounds.sealer.onStored(1, false);
    await rounds.reached(2);

    await using late = sealerOf(() => Promise.resolve(1), { ...drain, drainWaitMs: 0 });
    await late.sealer.start();
    await late.reached(1);
    late.sealer.onStored(sealerLimits.events, true);
    await late.reached(2);
  });

  it('end when a drain begins', async () => {
    const drain = { drainMs: 3_600_000, drainWaitMs: 3_600_000 };
    await using rounds = sealerOf((round) => {
      if (round === 1) rounds.sealer.onStored(sealerLimits.events, true);
      return Promise.resolve(round === 1 ? sealerLimits.mostLeaves : 0);
    }, drain);
    await rounds.sealer.start();
    await rounds.reached(1);
    await setImmediate();
    expect(rounds.count()).to.equal(1);
    rounds.sealer.onStored(1, false);
    await rounds.reached(2);
  });

  it('follow each other while they are full, and count a log that may not be signed', async () => {
    const found = [sealerLimits.mostLeaves, sealerLimits.mostLeaves, sealerLimits.events + 100];
    await using rounds = sealerOf((round) => Promise.resolve(found[round - 1] ?? 0));
    await rounds.sealer.start();
    await rounds.reached(3);
    await setImmediate();
    expect(rounds.count()).to.equal(3);
    await rounds.sealer.stop();
    expect(await rounds.failures()).to.equal(1);
  });

  it('are repeated after a failure', async () => {
    const down = (): Promise<never> => Promise.reject(new Error('down'));
    await using rounds = sealerOf((round) => (round === 1 ? down() : Promise.resolve(0)), { retryMs: 1 });
    await rounds.sealer.start();
    await rounds.reached(2);
    expect(await rounds.failures()).to.equal(1);
  });
});
