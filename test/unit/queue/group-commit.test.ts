import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { BufferFull, GroupCommit } from '../../../internal/queue/group-commit.ts';
import { anEvent } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';
import { manualCommits, manyCallers, roomy } from '../../support/manual-commits.ts';

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
    expect(await failureOf(group.add(anEvent()))).to.be.instanceOf(BufferFull);
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
    expect(await failureOf(group.add(anEvent({ description: 'x'.repeat(800) })))).to.be.instanceOf(BufferFull);
    await turn();
    const second = group.add(anEvent({ description: 'x'.repeat(800) }));
    batches[0]?.end.resolve();
    await first;
    await turn();
    batches[1]?.end.resolve();
    await second;
  });

  it('takes an event that is larger than the buffer while nothing else waits', async () => {
    const { commit, batches } = manualCommits();
    const group = new GroupCommit(commit, { ...roomy, bufferedBytes: 1_000 }, manyCallers);
    const large = group.add(anEvent({ description: 'x'.repeat(2_000) }));
    expect(await failureOf(group.add(anEvent()))).to.be.instanceOf(BufferFull);
    await turn();
    batches[0]?.end.resolve();
    await large;
  });

  it('fails what waits behind a failed commit, and goes on afterwards', async () => {
    const { commit, batches, sizes } = manualCommits();
    const group = new GroupCommit(commit, roomy, manyCallers);
    const first = failureOf(group.add(anEvent()));
    await turn();
    const behind = [failureOf(group.add(anEvent())), failureOf(group.add(anEvent()))];
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
    const hanging = failureOf(group.add(anEvent()));
    await turn();
    const behind = failureOf(group.add(anEvent()));
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
