import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { BufferFull } from '../../../internal/queue/group-commit.ts';
import { anEvent } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';
import { manualCommits } from '../../support/manual-commits.ts';
import { stopTimers } from '../../support/stopped-timers.ts';

describe('group commit', () => {
  it('coalesces what arrives while a commit is under way, in order, and answers each with its own commit', async () => {
    const { group, batches, end, sizes } = manualCommits({ commitsInFlight: 2 });
    const events = Array.from({ length: 5 }, (_, index) => anEvent({ description: String(index) }));
    const answered: number[] = [];
    const add = (index: number): void => {
      void group.add([events[index] ?? anEvent()]).then(() => answered.push(index));
    };
    add(0);
    await turn();
    for (const index of [1, 2, 3, 4]) add(index);
    await turn();
    expect(sizes()).to.deep.equal([1]);
    expect(group.buffered).to.equal(4);

    await end(0);
    expect(answered).to.deep.equal([0]);
    expect(batches[1]?.events).to.deep.equal(events.slice(1));
    await end(1);
    expect(answered).to.deep.equal([0, 1, 2, 3, 4]);
    expect([group.buffered, group.inFlight]).to.deep.equal([0, 0]);
  });

  it('bounds a batch by events and by bytes, and takes a larger event alone', async () => {
    const { add, batches, end, sizes } = manualCommits({ batchEvents: 3, batchBytes: 2_000, commitsInFlight: 10 });
    const added = [0, 0, 0, 0, 600, 600, 5_000, 0].map((length) => add(length));
    await turn();
    expect(sizes()).to.deep.equal([3, 2, 1, 1]);
    for (const index of batches.keys()) await end(index);
    expect(sizes()).to.deep.equal([3, 2, 1, 1, 1]);
    await Promise.all(added);
  });

  it('refuses at once past the buffered events, and takes more when there is room again', async () => {
    const { add, end } = manualCommits({ bufferedEvents: 2 });
    const added = [add()];
    await turn();
    added.push(add(), add());
    expect(await failureOf(add())).to.be.instanceOf(BufferFull);
    await end(0);
    added.push(add());
    await end(1);
    await end(2);
    await Promise.all(added);
  });

  it('refuses past the buffered bytes', async () => {
    const { add, end } = manualCommits({ bufferedBytes: 1_000 });
    const added = [add(800)];
    expect(await failureOf(add(800))).to.be.instanceOf(BufferFull);
    await turn();
    added.push(add(800));
    await end(0);
    await end(1);
    await Promise.all(added);
  });

  it('takes an event that is larger than the buffer while nothing else waits', async () => {
    const { add, end } = manualCommits({ bufferedBytes: 1_000 });
    const large = add(2_000);
    expect(await failureOf(add())).to.be.instanceOf(BufferFull);
    await turn();
    await end(0);
    await large;
  });

  it('fails what waits behind a failed commit, and continues afterwards', async () => {
    const { add, batches, end, sizes } = manualCommits();
    const failures = [failureOf(add())];
    await turn();
    failures.push(failureOf(add()), failureOf(add()));
    const failure = new Error('no redis');
    batches[0]?.end.reject(failure);
    expect(await Promise.all(failures)).to.deep.equal([failure, failure, failure]);
    const later = add();
    await turn();
    expect(sizes()).to.deep.equal([1, 1]);
    await end(1);
    await later;
  });

  it('drains: resolves when nothing waits and no commit is under way', async () => {
    const { add, end, group, sizes } = manualCommits();
    await group.drain();
    const added = [add()];
    let drained = false;
    const draining = group.drain().then(() => {
      drained = true;
    });
    await turn();
    added.push(add());
    await end(0);
    expect([sizes(), drained]).to.deep.equal([[1, 1], false]);
    await end(1);
    await Promise.all([...added, draining]);
  });
});

describe('group commit, when a commit hangs', () => {
  const tick = stopTimers();

  it('answers in time, and what waits behind it too; its slot stays taken until it ends', async () => {
    const { add, end, sizes } = manualCommits({ answerWithinMs: 60_000 });
    const failures = [failureOf(add())];
    await turn();
    failures.push(failureOf(add()));
    tick(60_000);
    for (const error of await Promise.all(failures)) expect(error).to.match(/too long/);
    const later = add();
    await turn();
    expect(sizes()).to.deep.equal([1]);
    await end(0);
    await end(1);
    await later;
  });
});
