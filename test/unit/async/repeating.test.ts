import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { Repeating } from '../../../internal/kit/async/repeating.ts';
import { settledWithin } from '../../../internal/kit/async/settled-within.ts';

const minute = 60_000;

/** Work that waits to be told to end, and how many runs of it have begun. */
function heldWork() {
  const runs: ((pauseMs: number) => void)[] = [];
  const work = (): Promise<number> => new Promise((resolve) => runs.push(resolve));
  return { work, runs, end: (pauseMs: number) => runs.at(-1)?.(pauseMs) };
}

describe('repeating work', () => {
  it('is done at once, and again after the pause that a run asks for', async () => {
    const third = Promise.withResolvers<void>();
    let runs = 0;
    const repeating = new Repeating(() => {
      runs += 1;
      if (runs === 3) third.resolve();
      return Promise.resolve(runs < 3 ? 0 : minute);
    });
    repeating.start();
    await third.promise;
    await repeating.stop();
    expect(runs).to.equal(3);
  });

  it('is stopped when the run under way has ended', async () => {
    const { work, runs, end } = heldWork();
    const repeating = new Repeating(work);
    repeating.start();
    await turn();
    let stopped = false;
    const stopping = repeating.stop().then(() => (stopped = true));
    await turn();
    expect(stopped).to.equal(false);
    end(0);
    await stopping;
    expect(runs).to.have.length(1);
  });

  it('may be started twice, stopped twice or before a start, and started again while a run is under way', async () => {
    const { work, runs, end } = heldWork();
    const repeating = new Repeating(work);
    await repeating.stop();
    repeating.start();
    repeating.start();
    await turn();
    const stopping = [repeating.stop(), repeating.stop()];
    repeating.start();
    await turn();
    expect(runs, 'never two at once').to.have.length(1);
    end(0);
    await Promise.all(stopping);
    await turn();
    expect(runs).to.have.length(2);
    end(minute);
    await repeating.stop();
    expect(runs).to.have.length(2);
  });
});

describe('what is settled within a time', () => {
  it('is what the promise resolves with; nothing when it rejects, or is late', async () => {
    expect(await settledWithin(minute, Promise.resolve('in time'))).to.equal('in time');
    expect(await settledWithin(minute, Promise.reject(new Error('failed')))).to.equal(undefined);
    expect(await settledWithin(1, new Promise(() => undefined))).to.equal(undefined);
  });
});
