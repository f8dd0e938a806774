import { expect } from 'chai';
import { ProgressWatch, type ProgressSources } from '../../../internal/worker/progress-watch.ts';

/** More looks than the watch is patient. */
const many = 20;

/** A world in which jobs wait, both servers are well, and nothing is stored; with what differs. */
async function afterLooks(differs: Partial<ProgressSources>, looks = many): Promise<ProgressWatch> {
  const world: ProgressSources = {
    waitingJobs: () => Promise.resolve(7),
    pingDatabase: () => Promise.resolve(),
    retrying: () => false,
    stored: () => 0,
    ...differs,
  };
  const watch = new ProgressWatch(world, { intervalMs: 5_000, answerMs: 20 });
  for (let look = 0; look < looks; look += 1) await watch.runOnce();
  return watch;
}

describe('progress watch', () => {
  it('asks for a restart when jobs wait and nothing is stored for a minute, though both servers are well', async () => {
    expect((await afterLooks({}, 11)).stuck).to.equal(undefined);
    expect((await afterLooks({}, 12)).stuck).to.match(/^7 jobs wait and nothing was stored for 60 s/);
  });

  const excuses: [string, Partial<ProgressSources>][] = [
    ['nothing waits', { waitingJobs: () => Promise.resolve(0) }],
    ['Redis is unavailable', { waitingJobs: () => Promise.resolve(undefined) }],
    ['Redis says nothing', { waitingJobs: () => new Promise(() => undefined) }],
    ['Postgres is unavailable', { pingDatabase: () => Promise.reject(new Error('away')) }],
    ['Postgres says nothing', { pingDatabase: () => new Promise(() => undefined) }],
    ['Postgres answers, and cannot store events', { retrying: () => true }],
  ];
  for (const [name, differs] of excuses) {
    it(`asks for none while ${name}`, async () => {
      expect((await afterLooks(differs)).stuck).to.equal(undefined);
    });
  }

  it('asks for none as long as something is stored now and then', async () => {
    let looks = 0;
    const waitingJobs = (): Promise<number> => Promise.resolve((looks += 1));
    const watch = await afterLooks({ waitingJobs, stored: () => Math.floor(looks / 10) }, 100);
    expect(watch.stuck).to.equal(undefined);
  });

  it('forgets what it held against the worker once there is progress', async () => {
    let stored = 0;
    const watch = await afterLooks({ stored: () => stored });
    stored = 1;
    await watch.runOnce();
    expect(watch.stuck).to.equal(undefined);
  });

  it('says for readiness which server is missing', async () => {
    const well = await afterLooks({}, 1);
    expect([well.queueProblem, well.databaseProblem]).to.deep.equal([undefined, undefined]);
    const away = await afterLooks({ waitingJobs: () => Promise.resolve(undefined), retrying: () => true }, 1);
    expect(away.queueProblem).to.equal('Redis does not answer, or refuses commands.');
    expect(away.databaseProblem).to.equal('Postgres cannot store events.');
    const silent = await afterLooks({ pingDatabase: () => Promise.reject(new Error('away')) }, 1);
    expect(silent.databaseProblem).to.equal('Postgres does not answer.');
  });

  it('is not ready before it has looked', () => {
    const watch = new ProgressWatch({} as ProgressSources);
    expect(watch.queueProblem).to.equal('Redis has not been asked yet.');
    expect(watch.databaseProblem).to.equal('Postgres has not been asked yet.');
  });
});
