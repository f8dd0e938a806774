import { expect } from 'chai';
import { BudgetUsedUp, ReadBudget } from '../../../internal/record/read-budget.ts';
import { failureOf } from '../../support/failure.ts';

const read =
  <T>(value: T) =>
  (): Promise<T> =>
    Promise.resolve(value);
const nothing = (): Promise<void> => Promise.resolve();

/** A clock that only pauses move. */
function clockOfPauses() {
  let time = 0;
  const pause = (ms: number): Promise<number> => Promise.resolve((time += ms));
  return { now: () => time, pause };
}

/** A budget that is used up: it has no room for the next read. */
async function usedUp(rowsPerSecond: number, clock: ReturnType<typeof clockOfPauses>): Promise<ReadBudget> {
  const budget = new ReadBudget(() => Promise.resolve(rowsPerSecond), clock);
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
    const clock = clockOfPauses();
    const budget = await usedUp(1_000, clock);
    const log: [string, number][] = [];
    const noting = (name: string) => (): Promise<number> => Promise.resolve(log.push([name, clock.now()]));
    const reads = ['a', 'b'].map((name) => budget.run(noting(name), { rows: 50, withinMs: Infinity }));
    expect(log).to.deep.equal([]);
    await Promise.all(reads);
    // 1 row is missing, and then 50 rows more, at 1,000 a second.
    expect(log).to.deep.equal([
      ['a', 1],
      ['b', 51],
    ]);
  });

  it('refuses a read that would wait too long, at the end of its time', async () => {
    const clock = clockOfPauses();
    const budget = await usedUp(1, clock);
    const failure = await failureOf(budget.run(read('never'), { rows: 1, withinMs: 20 }));
    expect(failure).to.be.instanceOf(BudgetUsedUp);
    expect(clock.now()).to.equal(20);
  });

  it('counts the time of a read that fails, such as one that took too long', async () => {
    const clock = clockOfPauses();
    const budget = new ReadBudget(() => Promise.resolve(1), clock);
    const tooLong = () => clock.pause(120).then(() => Promise.reject(new Error('too long')));
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
