import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { BatchScheduler } from '../../../internal/kit/async/batch-scheduler.ts';
import { until } from '../../support/until.ts';

const hourMs = 3_600_000;

describe('the start of a batch', () => {
  let begun: number;
  let leastMs: number;
  let scheduler: BatchScheduler;
  beforeEach(() => {
    [begun, leastMs] = [0, 0];
    const begin = (): void => {
      begun += 1;
      scheduler.begun();
    };
    scheduler = new BatchScheduler(begin, hourMs, () => leastMs);
  });
  afterEach(() => scheduler.cancel());

  const ask = async (atOnce: boolean): Promise<number> => {
    scheduler.schedule(atOnce);
    await nextTurn();
    return begun;
  };

  it('is in the next turn for the first batch, and later for the next one unless it is wanted at once', async () => {
    expect(await ask(false)).to.equal(1);
    expect(await ask(false)).to.equal(1);
    expect(await ask(true)).to.equal(2);
  });

  it('keeps its distance also if it is wanted at once, as long as there is one', async () => {
    expect(await ask(true)).to.equal(1);
    leastMs = hourMs / 2;
    expect(await ask(true)).to.equal(1);
    leastMs = 0;
    expect(await ask(true)).to.equal(2);
    leastMs = 1;
    scheduler.schedule(true);
    await until('the third batch', () => begun === 3);
  });
});
