import { expect } from 'chai';
import { PodFailures } from '../../../internal/controller/capture/pod-failures.ts';
import type { PodFailure } from '../../../internal/controller/capture/read-pod.ts';

const failure = (key: string, message = ''): PodFailure => ({
  key,
  at: 1,
  sentence: 'failed',
  reason: 'Error',
  message,
});

describe('the failures of Pods', () => {
  it('are at most a hundred of a Job, and one that says that there are more', () => {
    const failures = new PodFailures();
    const all = Array.from({ length: 300 }, (_, index) => failure(`WARNING/${index}`));
    failures.add({ jobUid: 'a', namespace: 'acme', failures: all });
    const kept = failures.of({ uid: 'a', namespace: 'acme' });
    expect(kept).to.have.length(101);
    expect(kept.at(-1)).to.deep.include({ key: 'WARNING/more', reason: 'TooManyFailures', at: 1 });
    expect(failures.add({ jobUid: 'a', namespace: 'acme', failures: all })).to.equal(false);
  });

  it('of a namespace take a bounded memory, which is free again when they are recorded', () => {
    const failures = new PodFailures();
    const long = 'x'.repeat(4_096);
    const add = (namespace: string, from: number, to: number): number => {
      let whole = 0;
      for (let index = from; index < to; index += 1) {
        const jobUid = `${namespace}-${index}`;
        failures.add({ jobUid, namespace, failures: [failure('WARNING/pod', long)] });
        if (failures.of({ uid: jobUid, namespace })[0]?.message === long) whole += 1;
      }
      return whole;
    };
    expect(add('hostile', 0, 2_000)).to.be.within(400, 600);
    expect(add('quiet', 0, 100)).to.equal(100);
    for (let index = 0; index < 2_000; index += 1) failures.recorded(`hostile-${index}`);
    expect(add('hostile', 2_000, 2_100)).to.equal(100);
    failures.keep((uid) => uid === 'quiet-1');
    expect(failures.of({ uid: 'quiet-1', namespace: 'quiet' })).to.have.length(1);
    expect(failures.of({ uid: 'quiet-1', namespace: 'other' })).to.deep.equal([]);
    expect(failures.of({ uid: 'quiet-2', namespace: 'quiet' })).to.deep.equal([]);
  });
});
