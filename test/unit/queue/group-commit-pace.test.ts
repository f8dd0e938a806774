import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { GroupCommit, type GroupCommitLimits } from '../../../internal/queue/group-commit.ts';
import { anEvent } from '../../support/events.ts';
import { manualCommits, manyCallers, roomy } from '../../support/manual-commits.ts';
import { stopTimers } from '../../support/stopped-timers.ts';

describe('the pace of group commits', () => {
  const tick = stopTimers();

  it('begins further commits only with full batches, up to as many as may be in flight', async () => {
    const { commit, batches, sizes } = manualCommits();
    const group = new GroupCommit(commit, { ...roomy, batchEvents: 3, commitsInFlight: 2 }, manyCallers);
    const added = [group.add(anEvent())];
    await turn();
    added.push(group.add(anEvent()), group.add(anEvent()));
    await turn();
    expect(sizes()).to.deep.equal([1]);
    added.push(...Array.from({ length: 5 }, () => group.add(anEvent())));
    await turn();
    expect(sizes()).to.deep.equal([1, 3]);
    batches[0]?.end.resolve();
    await turn();
    await turn();
    expect(sizes()).to.deep.equal([1, 3, 3]);
    for (let index = 1; index < 4; index += 1) {
      batches[index]?.end.resolve();
      await turn();
      await turn();
    }
    expect(sizes()).to.deep.equal([1, 3, 3, 1]);
    await Promise.all(added);
  });

  it('lets an interval pass between commits, unless a batch is full', async () => {
    const { group, batches, sizes } = await afterACommit({ batchEvents: 3 });
    const full = [group.add(anEvent()), group.add(anEvent()), group.add(anEvent())];
    await turn();
    expect(sizes()).to.deep.equal([1, 3]);
    batches[1]?.end.resolve();
    await Promise.all(full);
  });

  it('makes one commit of what comes within the interval, and lets the whole of it pass', async () => {
    const { group, batches, sizes } = await afterACommit();
    const together = [group.add(anEvent())];
    await turn();
    together.push(group.add(anEvent()));
    tick(50_000);
    await turn();
    expect(sizes()).to.deep.equal([1]);
    tick(10_000);
    await turn();
    expect(sizes()).to.deep.equal([1, 2]);
    batches[1]?.end.resolve();
    await Promise.all(together);
  });

  it('waits for nobody once all who are connected wait for it', async () => {
    const callers = { open: 1, opened: 1 };
    const { group, batches, sizes } = await afterACommit({}, callers);
    const alone = group.add(anEvent());
    await turn();
    expect(sizes()).to.deep.equal([1, 1]);
    batches[1]?.end.resolve();
    await alone;

    callers.open = 3;
    const together = [group.add(anEvent()), group.add(anEvent())];
    await turn();
    expect(sizes()).to.deep.equal([1, 1]);
    together.push(group.add(anEvent()));
    await turn();
    expect(sizes()).to.deep.equal([1, 1, 3]);
    batches[2]?.end.resolve();
    await Promise.all(together);
  });

  it('waits while new connections come: the next caller may not be connected yet', async () => {
    const callers = { open: 1, opened: 1 };
    const { group, batches, sizes } = await afterACommit({}, callers);
    callers.opened += 1;
    const added = [group.add(anEvent())];
    await turn();
    expect(sizes()).to.deep.equal([1]);
    callers.opened += 1;
    added.push(group.add(anEvent()));
    tick(60_000);
    await turn();
    expect(sizes()).to.deep.equal([1, 2]);
    batches[1]?.end.resolve();
    await Promise.all(added);
  });
});

/** A group commit with an interval of a minute, which has begun with a commit of one event. */
async function afterACommit(limits: Partial<GroupCommitLimits> = {}, callers = manyCallers) {
  const { commit, batches, sizes } = manualCommits();
  const group = new GroupCommit(commit, { ...roomy, intervalMs: 60_000, ...limits }, callers);
  const first = group.add(anEvent());
  await turn();
  batches[0]?.end.resolve();
  await first;
  return { group, batches, sizes };
}
