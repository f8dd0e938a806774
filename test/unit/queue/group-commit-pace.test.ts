import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { manualCommits } from '../../support/manual-commits.ts';
import { stopTimers } from '../../support/stopped-timers.ts';

describe('the pace of group commits', () => {
  const tick = stopTimers();

  /** An interval of a minute, after a commit of one event. */
  async function afterACommit(...given: Parameters<typeof manualCommits>) {
    const [limits, callers] = given;
    const commits = manualCommits({ intervalMs: 60_000, ...limits }, callers);
    const first = commits.add();
    await turn();
    await commits.end(0);
    await first;
    return commits;
  }

  it('begins further commits only with full batches, up to as many as may be in flight', async () => {
    const { add, end, sizes } = manualCommits({ batchEvents: 3, commitsInFlight: 2 });
    const added = [add()];
    await turn();
    added.push(add(), add());
    await turn();
    expect(sizes()).to.deep.equal([1]);
    added.push(...Array.from({ length: 5 }, () => add()));
    await turn();
    expect(sizes()).to.deep.equal([1, 3]);
    await end(0);
    expect(sizes()).to.deep.equal([1, 3, 3]);
    for (const index of [1, 2, 3]) await end(index);
    expect(sizes()).to.deep.equal([1, 3, 3, 1]);
    await Promise.all(added);
  });

  it('lets an interval pass between commits, unless a batch is full', async () => {
    const { add, end, sizes } = await afterACommit({ batchEvents: 3 });
    const full = [add(), add(), add()];
    await turn();
    expect(sizes()).to.deep.equal([1, 3]);
    await end(1);
    await Promise.all(full);
  });

  it('makes one commit of what comes within the interval, and lets the whole of it pass', async () => {
    const { add, end, sizes } = await afterACommit();
    const together = [add()];
    await turn();
    together.push(add());
    tick(50_000);
    await turn();
    expect(sizes()).to.deep.equal([1]);
    tick(10_000);
    await turn();
    expect(sizes()).to.deep.equal([1, 2]);
    await end(1);
    await Promise.all(together);
  });

  it('waits for nobody once all who are connected wait for it', async () => {
    const callers = { open: 1, opened: 1 };
    const { add, end, sizes } = await afterACommit({}, callers);
    const alone = add();
    await turn();
    expect(sizes()).to.deep.equal([1, 1]);
    await end(1);
    await alone;

    callers.open = 3;
    const together = [add(), add()];
    await turn();
    expect(sizes()).to.deep.equal([1, 1]);
    together.push(add());
    await turn();
    expect(sizes()).to.deep.equal([1, 1, 3]);
    await end(2);
    await Promise.all(together);
  });

  it('waits while new connections come: the next caller may not be connected yet', async () => {
    const callers = { open: 1, opened: 1 };
    const { add, end, sizes } = await afterACommit({}, callers);
    callers.opened += 1;
    const added = [add()];
    await turn();
    expect(sizes()).to.deep.equal([1]);
    callers.opened += 1;
    added.push(add());
    tick(60_000);
    await turn();
    expect(sizes()).to.deep.equal([1, 2]);
    await end(1);
    await Promise.all(added);
  });
});
