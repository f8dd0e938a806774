import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { batchPerTurn } from '../../../internal/intake/fast-path/batch-per-turn.ts';

describe('a batch per event-loop turn', () => {
  it('runs the items of one turn at its end, in order, each step for all items before the next', async () => {
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

  it('starts at once when it has 512 items', async () => {
    let done = 0;
    const take = batchPerTurn(() => {
      done += 1;
    });
    for (let item = 0; item < 1_100; item += 1) take(item);
    expect(done).to.equal(1_024);
    await nextTurn();
    expect(done).to.equal(1_100);
  });

  it('leaves the items that arrive while it runs to the next batch', async () => {
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
