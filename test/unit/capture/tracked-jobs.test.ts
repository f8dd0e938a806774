import { expect } from 'chai';
import type { JobManifest } from '../../../internal/controller/capture/batch.ts';
import { jobWarnings } from '../../../internal/controller/capture/job-warnings.ts';
import { readJob } from '../../../internal/controller/capture/read-job.ts';
import { TrackedJobs } from '../../../internal/controller/capture/tracked-jobs.ts';

function jobOf(namespace: string, index: number): JobManifest {
  const uid = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
  return { metadata: { uid, namespace, name: `job-${index}`, creationTimestamp: '2026-11-25T02:30:00Z' } };
}

describe('the Jobs of a namespace', () => {
  it('are followed up to 20,000, its owner is told of more, and others keep their room', () => {
    const jobs = new TrackedJobs();
    for (let index = 0; index < 20_001; index += 1) jobs.onJob(jobOf('hostile', index));
    const quiet = jobs.onJob(jobOf('quiet', 30_000));
    expect(jobs.has(quiet)).to.equal(true);
    expect(jobs.left.map(({ name }) => name)).to.deep.equal(['job-20000']);
    const warnings = jobWarnings([], jobs.left, () => 'hostile');
    expect(warnings.map(({ reason, metadata }) => `${metadata.namespace} ${reason}`)).to.deep.equal([
      'hostile TooManyJobs',
    ]);
    // One that ends makes room for another.
    jobs.forget(jobs.onJob(jobOf('hostile', 0)));
    expect(jobs.has(jobs.onJob(jobOf('hostile', 20_001)))).to.equal(true);
  });

  it('get at most 100 Warning Events at a time, and those of others get theirs', () => {
    const wrong = (namespace: string, index: number) => {
      return { facts: readJob(jobOf(namespace, index)), isDisowned: false, problem: 'Postgres refuses it' };
    };
    const hostile = Array.from({ length: 150 }, (_, index) => wrong('hostile', index));
    const warnings = jobWarnings([...hostile, wrong('quiet', 200)], [], () => 'acme');
    const byNamespace = Map.groupBy(warnings, ({ metadata }) => metadata.namespace);
    expect([...byNamespace].map(([namespace, own]) => `${namespace} ${own.length}`)).to.deep.equal([
      'hostile 100',
      'quiet 1',
    ]);
  });
});
