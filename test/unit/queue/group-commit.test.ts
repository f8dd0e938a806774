import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { GroupCommit, type Callers, type GroupCommitLimits } from '../../../internal/queue/group-commit.ts';
import { anEvent } from '../../support/events.ts';
import { until } from '../../support/until.ts';

const roomy: GroupCommitLimits = {
  batchEvents: 100,
  batchBytes: 1e6,
  commitsInFlight: 1,
  bufferedEvents: 1_000,
  bufferedBytes: 1e6,
  intervalMs: 0,
  answerWithinMs: 10_000,
};

const manyCallers = (): Callers => ({ open: Infinity, opened: 0 });

/** Commits that the test ends by hand, in the order they began. */
function manualCommits() {
  const batches: { events: AcceptedEvent[]; end: PromiseWithResolvers<void> }[] = [];
  const commit = (events: AcceptedEvent[]): Promise<void> => {
    const end = Promise.withResolvers<void>();
    batches.push({ events, end });
    return end.promise;
  };
  const sizes = (): number[] => batches.map(({ events }) => events.length);
  return { commit, batches, sizes };
}

const refused = (promise: Promise<void>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('group commit', () => {
  it('commits a lone event at once', async () => {
    const { commit, batches, sizes } = manualCommits();
    const added = new GroupCommit(commit, roomy, manyCallers).add(anEvent());
    await turn();
    expect(sizes()).to.deep.equal([1]);
    batches[0]?.end.resolve();
    await added;
  });

  it('coalesces what arrives while a commit is under way, in order, and answers each with its own commit', async () => {
    const { commit, batches, sizes } = manualCommits();
    const group = new GroupCommit(commit, { ...roomy, commitsInFlight: 2 }, manyCallers);
    const events = Array.from({ length: 5 }, (_, index) => anEvent({ description: String(index) }));
    const answered: number[] = [];
    const add = (index: number): void => {
      void group.add(events[index] ?? anEvent()).then(() => answered.push(index));
    };
    add(0);
    await turn();
    for (const index of [1, 2, 3, 4]) add(index);
    await turn();
    expect(sizes()).to.deep.equal([1]);
    expect(group.buffered).to.equal(4);

    batches[0]?.end.resolve();
    await turn();
    await turn();
    expect(answered).to.deep.equal([0]);
    expect(batches[1]?.events).to.deep.equal(events.slice(1));
    batches[1]?.end.resolve();
    await turn();
    expect(answered).to.deep.equal([0, 1, 2, 3, 4]);
    expect([group.buffered, group.inFlight]).to.deep.equal([0, 0]);
  });

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
    const group = new GroupCommit(commit, { ...roomy, intervalMs: 60_000 }, () => callers);
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
    const group = new GroupCommit(commit, { ...roomy, intervalMs: 100 }, () => callers);
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

  it('bounds a batch by events and by bytes, and takes a larger event alone', async () => {
    const { commit, batches, sizes } = manualCommits();
    const group = new GroupCommit(
      commit,
      { ...roomy, batchEvents: 3, batchBytes: 1_000, commitsInFlight: 10 },
      manyCallers,
    );
    const lengths = [0, 0, 0, 0, 600, 600, 5_000, 0];
    const added = lengths.map((length) => group.add(anEvent({ description: 'x'.repeat(length) })));
    await turn();
    expect(sizes()).to.deep.equal([3, 2, 1, 1]);
    for (const { end } of batches) end.resolve();
    await turn();
    await turn();
    expect(sizes()).to.deep.equal([3, 2, 1, 1, 1]);
    batches.at(-1)?.end.resolve();
    await Promise.all(added);
  });

  it('refuses at once past the buffered events, and takes more when there is room again', async () => {
    const { commit, batches } = manualCommits();
    const group = new GroupCommit(commit, { ...roomy, bufferedEvents: 2 }, manyCallers);
    const first = group.add(anEvent());
    await turn();
    const waiting = [group.add(anEvent()), group.add(anEvent())];
    expect(await refused(group.add(anEvent()))).to.include({ code: 'unavailable' });
    batches[0]?.end.resolve();
    await first;
    await turn();
    const again = group.add(anEvent());
    for (let index = 1; index < 3; index += 1) {
      batches[index]?.end.resolve();
      await turn();
      await turn();
    }
    await Promise.all([...waiting, again]);
  });

  it('refuses past the buffered bytes', async () => {
    const { commit, batches } = manualCommits();
    const group = new GroupCommit(commit, { ...roomy, bufferedBytes: 1_000 }, manyCallers);
    const first = group.add(anEvent({ description: 'x'.repeat(800) }));
    expect(await refused(group.add(anEvent({ description: 'x'.repeat(800) })))).to.include({ code: 'unavailable' });
    await turn();
    const second = group.add(anEvent({ description: 'x'.repeat(800) }));
    batches[0]?.end.resolve();
    await first;
    await turn();
    batches[1]?.end.resolve();
    await second;
  });

  it('fails what waits behind a failed commit, and goes on afterwards', async () => {
    const { commit, batches, sizes } = manualCommits();
    const group = new GroupCommit(commit, roomy, manyCallers);
    const first = refused(group.add(anEvent()));
    await turn();
    const behind = [refused(group.add(anEvent())), refused(group.add(anEvent()))];
    const failure = new Error('no redis');
    batches[0]?.end.reject(failure);
    expect(await Promise.all([first, ...behind])).to.deep.equal([failure, failure, failure]);
    const later = group.add(anEvent());
    await turn();
    expect(sizes()).to.deep.equal([1, 1]);
    batches[1]?.end.resolve();
    await later;
  });

  it('answers in time when a commit hangs, and what waits behind it too; its slot stays taken until it ends', async () => {
    const { commit, batches, sizes } = manualCommits();
    const group = new GroupCommit(commit, { ...roomy, answerWithinMs: 20 }, manyCallers);
    const hanging = refused(group.add(anEvent()));
    await turn();
    const behind = refused(group.add(anEvent()));
    for (const error of await Promise.all([hanging, behind])) expect(error).to.match(/too long/);
    const later = group.add(anEvent());
    await turn();
    expect(sizes()).to.deep.equal([1]);
    batches[0]?.end.resolve();
    await turn();
    await turn();
    batches[1]?.end.resolve();
    await later;
  });

  it('drains: resolves when nothing waits and no commit is under way', async () => {
    const { commit, batches } = manualCommits();
    const group = new GroupCommit(commit, roomy, manyCallers);
    const added = [group.add(anEvent())];
    let drained = false;
    const draining = group.drain().then(() => {
      drained = true;
    });
    await turn();
    added.push(group.add(anEvent()));
    batches[0]?.end.resolve();
    await turn();
    await turn();
    expect([batches.length, drained]).to.deep.equal([2, false]);
    batches[1]?.end.resolve();
    await Promise.all([...added, draining]);
    await new GroupCommit(commit, roomy, manyCallers).drain();
  });
});
