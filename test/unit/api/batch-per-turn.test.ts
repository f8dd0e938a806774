import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { batchPerTurn } from '../../../internal/api/fast-path/batch-per-turn.ts';

describe('cohorts', () => {
  it('do what comes in one turn of the event loop at its end, in order, and each step for all before the next', async () => {
    const steps: string[] = [];
    const take = batchPerTurn((item: string) => {
      steps.push(`${item}1`);
      void Promise.resolve().then(() => steps.push(`${item}2`));
    });
    take('a');
    await Promise.resolve();
    take('b');
    expect(steps).to.deep.equal([]);
    await nextTurn();
    expect(steps).to.deep.equal(['a1', 'b1', 'a2', 'b2']);
  });

  it('do not grow beyond 512', async () => {
    let done = 0;
    const take = batchPerTurn(() => {
      done += 1;
    });
    for (let item = 0; item < 1_100; item += 1) take(item);
    expect(done).to.equal(1_024);
    await nextTurn();
    expect(done).to.equal(1_100);
  });

  it('leave what comes while one is at work to the next', async () => {
    const done: string[] = [];
    const take = batchPerTurn((item: string) => {
      done.push(item);
      if (item === 'a') take('c');
    });
    take('a');
    take('b');
    await nextTurn();
    expect(done).to.deep.equal(['a', 'b']);
    await nextTurn();
    expect(done).to.deep.equal(['a', 'b', 'c']);
  });
});
