import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { GroupCommit } from '../../../internal/queue/group-commit.ts';
import { anEvent } from '../../support/events.ts';
import { manualCommits, manyCallers, roomy } from '../../support/manual-commits.ts';
import { until } from '../../support/until.ts';

describe('the pace of group commits', () => {
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
    const { commit, batches, sizes } = manualCommits();
    const group = new GroupCommit(commit, { ...roomy, batchEvents: 3, intervalMs: 60_000 }, manyCallers);
    const first = group.add(anEvent());
    await turn();
    batches[0]?.end.resolve();
    await first;
    const full = [group.add(anEvent()), group.add(anEvent()), group.add(anEvent())];
    await turn();
    expect(sizes()).to.deep.equal([1, 3]);
    batches[1]?.end.resolve();
    await Promise.all(full);

    const patient = new GroupCommit(commit, { ...roomy, intervalMs: 30 }, manyCallers);
    const begun = performance.now();
    const lone = patient.add(anEvent());
    await turn();
    batches[2]?.end.resolve();
    await lone;
    const together = [patient.add(anEvent())];
    await turn();
    together.push(patient.add(anEvent()));
    expect(sizes()).to.deep.equal([1, 3, 1]);
    await until('the next commit', () => (batches.length === 4 ? true : undefined));
    expect(performance.now() - begun).to.be.above(29);
    expect(sizes()).to.deep.equal([1, 3, 1, 2]);
    batches[3]?.end.resolve();
    await Promise.all(together);
  });

  it('waits for nobody once all who are connected wait for it', async () => {
    const { commit, batches, sizes } = manualCommits();
    const callers = { open: 1, opened: 1 };
    const group = new GroupCommit(commit, { ...roomy, intervalMs: 60_000 }, callers);
    const first = group.add(anEvent());
    await turn();
    batches[0]?.end.resolve();
    await first;
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
    const { commit, batches, sizes } = manualCommits();
    const callers = { open: 1, opened: 1 };
    const group = new GroupCommit(commit, { ...roomy, intervalMs: 100 }, callers);
    const first = group.add(anEvent());
    await turn();
    batches[0]?.end.resolve();
    await first;
    callers.opened += 1;
    const added = [group.add(anEvent())];
    await turn();
    expect(sizes()).to.deep.equal([1]);
    callers.opened += 1;
    added.push(group.add(anEvent()));
    await until('the next commit', () => (batches.length === 2 ? true : undefined));
    expect(sizes()).to.deep.equal([1, 2]);
    batches[1]?.end.resolve();
    await Promise.all(added);
  });
});
