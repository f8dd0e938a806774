import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { BudgetUsedUp, ReadBudget } from '../../../internal/record/read-budget.ts';
import { failureOf } from '../../support/failure.ts';

const read =
  <T>(value: T) =>
  (): Promise<T> =>
    Promise.resolve(value);
const nothing = (): Promise<void> => Promise.resolve();

/** A budget that is used up: it has no room for the next read. */
async function usedUp(rowsPerSecond: number): Promise<ReadBudget> {
  const budget = new ReadBudget(() => Promise.resolve(rowsPerSecond));
  await budget.run(nothing, { rows: 50_001, withinMs: 0 });
  return budget;
}

describe('the budget of rows that reads share', () => {
  it('lets reads run at once while there is room', async () => {
    const budget = new ReadBudget(() => Promise.reject(new Error('nobody asks')));
    const results = [1, 2, 3].map((value) => budget.run(read(value), { rows: 15_000, withinMs: 0 }));
    expect(await Promise.all(results)).to.deep.equal([1, 2, 3]);
  });

  it('counts the rows that were read, not those that were announced', async () => {
    const budget = new ReadBudget(() => Promise.reject(new Error('nobody asks')));
    for (let number = 0; number < 5; number += 1) {
      await budget.run(read('few'), { rows: 40_000, rowsOf: ({ length }) => length, withinMs: 0 });
    }
  });

  it('lets the next read wait until there is room again, in the order of the calls', async () => {
    const budget = await usedUp(1_000);
    const log: string[] = [];
    const noting = (name: string) => (): Promise<void> => Promise.resolve(log.push(name)).then(() => undefined);
    const begun = performance.now();
    const reads = ['a', 'b'].map((name) => budget.run(noting(name), { rows: 50, withinMs: Infinity }));
    expect(log).to.deep.equal([]);
    await Promise.all(reads);
    expect(log).to.deep.equal(['a', 'b']);
    // 1 row and then 50 rows, at 1,000 a second; timers may fire a little early.
    expect(performance.now() - begun).to.be.above(40);
  });

  it('refuses a read that would wait too long, at the end of its time', async () => {
    const budget = await usedUp(1);
    const begun = performance.now();
    const failure = await failureOf(budget.run(read('never'), { rows: 1, withinMs: 20 }));
    expect(failure).to.be.instanceOf(BudgetUsedUp);
    expect(performance.now() - begun).to.be.above(15);
  });

  it('counts the time of a read that fails, such as one that took too long', async () => {
    const budget = new ReadBudget(() => Promise.resolve(1));
    const tooLong = () => sleep(120).then(() => Promise.reject(new Error('too long')));
    expect(String(await failureOf(budget.run(tooLong, { rows: 1, withinMs: 0 })))).to.equal('Error: too long');
    expect(await failureOf(budget.run(nothing, { rows: 1, withinMs: 0 }))).to.be.instanceOf(BudgetUsedUp);
  });

  it('runs reads after one that fails', async () => {
    const budget = new ReadBudget(() => Promise.resolve(1_000));
    const failing = budget.run(() => Promise.reject(new Error('failed')), { rows: 1, withinMs: 0 });
    expect(String(await failureOf(failing))).to.equal('Error: failed');
    expect(await budget.run(read('next'), { rows: 1, withinMs: 0 })).to.equal('next');
  });
});
