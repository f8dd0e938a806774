import { expect } from 'chai';
import type { JobCondition, JobManifest, PodManifest } from '../../../internal/controller/capture/batch.ts';
import { eventsOfDeletion, eventsOfJob } from '../../../internal/controller/capture/job-events.ts';
import { readJob, withoutCronJob } from '../../../internal/controller/capture/read-job.ts';
import { readPod } from '../../../internal/controller/capture/read-pod.ts';

const automationId = '0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11';
const uid = '4b5f1e5c-0d0b-4f0e-9a63-0d1f4f3f0a01';
const cronJobUid = '9d6f3c58-3f0c-4a9e-8a5e-2c1c0a7b0b02';
const at = (second: number): string => `2026-11-25T02:30:${String(second).padStart(2, '0')}Z`;

function job(status: JobManifest['status'] = {}, metadata: JobManifest['metadata'] = {}): JobManifest {
  const identity = { uid, namespace: 'acme', name: 'nightly-29', creationTimestamp: at(0) };
  return { metadata: { ...identity, ...metadata }, status };
}

function condition(type: string, second: number, more: Partial<JobCondition> = {}): JobCondition {
  return { type, status: 'True', lastTransitionTime: at(second), ...more };
}

const ofCronJob = [{ kind: 'CronJob', name: 'nightly', uid: cronJobUid, controller: true }];
const exited = (exitCode: number, second: number, more: object = {}) => ({
  terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', finishedAt: at(second), ...more },
});

function pod(name: string, status: NonNullable<PodManifest['status']>, annotations = {}): PodManifest {
  const ownerReferences = [{ kind: 'Job', name: 'nightly-29', uid, controller: true }];
  return { metadata: { uid: `uid-of-${name}`, namespace: 'acme', name, annotations, ownerReferences }, status };
}

/** The events of a Job with its Pods: kind, second, and the texts that are not empty. */
function told(manifest: JobManifest, pods: readonly PodManifest[] = []): unknown[][] {
  const failures = pods.flatMap((one) => readPod(one)?.failures ?? []);
  return eventsOfJob(readJob(manifest), failures).map(shown);
}

function shown(event: ReturnType<typeof eventsOfJob>[number]): unknown[] {
  const { kind, occurredAt, description, errorId, errorDescription } = event;
  const time = occurredAt === undefined ? undefined : new Date(occurredAt).getUTCSeconds();
  return [kind, time, ...[description, errorId, errorDescription].filter((text) => text !== '')];
}

describe('events of a Job', () => {
  const start = ['START', 1, 'Job nightly-29'];

  it('belong to the time of its schedule, or to none if it was made by hand', () => {
    const scheduled = { 'batch.kubernetes.io/cronjob-scheduled-timestamp': at(0) };
    const read = (annotations: Record<string, string>, ownerReferences?: typeof ofCronJob) => {
      const { byHand, scheduledAt } = readJob(job({}, { annotations, ...(ownerReferences && { ownerReferences }) }));
      return { byHand, scheduledAt };
    };
    expect(read(scheduled, ofCronJob)).to.deep.equal({ byHand: false, scheduledAt: Date.parse(at(0)) });
    expect(read({}, ofCronJob)).to.deep.equal({ byHand: true, scheduledAt: undefined });
    expect(read({ 'cronjob.kubernetes.io/instantiate': 'manual' })).to.deep.include({ byHand: true });
    expect(read({})).to.deep.equal({ byHand: false, scheduledAt: undefined });
    // The CronJob that it names does not exist.
    const disowned = readJob(job({}, { ownerReferences: ofCronJob }));
    expect(withoutCronJob(disowned)).to.deep.include({ byHand: false, automationId: uid });
  });

  it('are none before it starts, and while it is suspended', () => {
    expect(told(job())).to.deep.equal([]);
    expect(told(job({ conditions: [condition('Suspended', 0)] }))).to.deep.equal([]);
  });

  it('say how much later than its schedule a Job of a CronJob started', () => {
    const annotations = { 'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-11-25T03:29:58+01:00' };
    const scheduled = job({ startTime: at(1) }, { ownerReferences: ofCronJob, annotations });
    expect(told(scheduled)).to.deep.equal([
      ['START', 1, 'Job nightly-29 of CronJob nightly, scheduled for 2026-11-25T02:29:58Z, started 3 s later'],
    ]);
    // As `kubectl create job --from=cronjob/nightly` makes it.
    const byHand = job({ startTime: at(1) }, { ownerReferences: ofCronJob });
    expect(told(byHand)).to.deep.equal([['START', 1, 'Job nightly-29 of CronJob nightly']]);
  });

  it('end with an END when it is complete, not when it has only met its success criteria', () => {
    const met = condition('SuccessCriteriaMet', 5);
    expect(told(job({ startTime: at(1), conditions: [met] }))).to.deep.equal([start]);
    const complete = { startTime: at(1), completionTime: at(7), conditions: [met, condition('Complete', 8)] };
    expect(told(job(complete))).to.deep.equal([start, ['END', 7]]);
  });

  it('end with an ERROR and an END when it has failed, not when it only will', () => {
    const [reason, message] = ['BackoffLimitExceeded', 'Job has reached the specified backoff limit'];
    const target = condition('FailureTarget', 5, { reason: 'other', message: 'other' });
    expect(told(job({ startTime: at(1), conditions: [target] }))).to.deep.equal([start]);
    const failed = condition('Failed', 9, { reason, message });
    expect(told(job({ startTime: at(1), conditions: [target, failed] }))).to.deep.equal([
      start,
      ['ERROR', 9, 'Job nightly-29 failed', reason, message],
      ['END', 9],
    ]);
  });

  it('ignore a condition that does not hold', () => {
    const conditions = [condition('Failed', 5, { status: 'False' }), condition('Complete', 6, { status: 'Unknown' })];
    expect(told(job({ startTime: at(1), conditions }))).to.deep.equal([start]);
  });

  it('begin at its creation if it ended without a start', () => {
    const failed = condition('Failed', 9, { reason: 'DeadlineExceeded' });
    expect(told(job({ conditions: [failed] })).map(([kind, time]) => [kind, time])).to.deep.equal([
      ['START', 0],
      ['ERROR', 9],
      ['END', 9],
    ]);
  });

  it('warn of each Pod that failed, in the order of time, with the end of its message', () => {
    const message = Array.from({ length: 30 }, (_, line) => `line ${line + 1}`).join('\n');
    const pods = [
      pod('second', {
        phase: 'Failed',
        containerStatuses: [{ name: 'main', state: exited(137, 6, { reason: 'OOMKilled' }) }],
      }),
      pod('first', { phase: 'Failed', containerStatuses: [{ name: 'main', state: exited(3, 4, { message }) }] }),
      pod('third', { phase: 'Succeeded', containerStatuses: [{ name: 'main', state: exited(0, 8) }] }),
    ];
    const complete = { startTime: at(1), completionTime: at(9), conditions: [condition('Complete', 9)] };
    expect(told(job(complete), pods)).to.deep.equal([
      start,
      [
        'WARNING',
        4,
        'Pod first: container main ended with exit code 3 (Error)',
        'Error',
        message.split('\n').slice(10).join('\n'),
      ],
      ['WARNING', 6, 'Pod second: container main ended with exit code 137 (OOMKilled)', 'OOMKilled'],
      ['END', 9],
    ]);
  });

  it('warn of an evicted Pod with the words of Kubernetes, and name the index of an indexed one', () => {
    const evicted = { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' };
    const indexed = pod('first', evicted, { 'batch.kubernetes.io/job-completion-index': '4' });
    expect(told(job({ startTime: at(1) }), [indexed])).to.deep.equal([
      start,
      ['WARNING', undefined, 'Pod first of index 4: failed', 'Evicted', evicted.message],
    ]);
  });

  it('warn of each restart of a container with restartPolicy OnFailure', () => {
    const running = (restartCount: number, second: number) =>
      pod('only', {
        phase: 'Running',
        containerStatuses: [
          { name: 'main', restartCount, lastState: exited(1, second) },
          { name: 'helper', restartCount: 1, lastState: exited(0, second) },
        ],
      });
    const sentence = (count: number) => `Pod only: container main ended with exit code 1 (Error); restart ${count}`;
    expect(told(job({ startTime: at(1) }), [running(1, 3), running(2, 5)])).to.deep.equal([
      start,
      ['WARNING', 3, sentence(1), 'Error'],
      ['WARNING', 5, sentence(2), 'Error'],
    ]);
  });

  it('have different keys, the same each time', () => {
    const failed = pod('one', {
      phase: 'Failed',
      containerStatuses: [{ name: 'main', restartCount: 1, state: exited(1, 4), lastState: exited(1, 3) }],
    });
    const conditions = [condition('Failed', 9, { reason: 'BackoffLimitExceeded' })];
    const keys = eventsOfJob(readJob(job({ startTime: at(1), conditions })), readPod(failed)?.failures ?? []).map(
      ({ key }) => key,
    );
    expect(keys).to.deep.equal(['START', 'WARNING/uid-of-one/main/1', 'WARNING/uid-of-one', 'ERROR', 'END']);
  });

  it('say that it was deleted before its end, if it had started', () => {
    const { startedAt } = readJob(job({ startTime: at(1) }));
    expect(eventsOfDeletion({ name: 'nightly-29', startedAt }, Date.parse(at(9))).map(shown)).to.deep.equal([
      start,
      ['ERROR', 9, 'Job nightly-29 was deleted', 'JobDeleted', 'The Job was deleted before it ended.'],
      ['END', 9],
    ]);
    expect(eventsOfDeletion({ name: 'nightly-29', startedAt: undefined }, undefined)).to.deep.equal([]);
  });

  it('hold no text that Postgres cannot store, nor one that is too long', () => {
    const failed = condition('Failed', 9, { reason: 'a\0b', message: 'x'.repeat(4_095) + '\u{1f600}y' });
    const [, error] = eventsOfJob(readJob(job({ startTime: at(1), conditions: [failed] })), []);
    expect(error?.errorId).to.equal('a\ufffdb');
    expect(error?.errorDescription).to.equal('x'.repeat(4_095) + '\u{1f600}');
  });
});

describe('automation of a Job', () => {
  const annotated = (id: string, ownerReferences: typeof ofCronJob = []) =>
    readJob(job({}, { annotations: { 'runledger.dev/automation-id': id }, ownerReferences }));

  it('is its annotation, else its CronJob, else itself', () => {
    expect(annotated(automationId.toUpperCase(), ofCronJob).automationId).to.equal(automationId);
    expect(readJob(job({}, { ownerReferences: ofCronJob })).automationId).to.equal(cronJobUid);
    expect(readJob(job()).automationId).to.equal(uid);
  });

  it('is not an annotation that is no UUID', () => {
    expect(annotated('nightly', ofCronJob)).to.include({ automationId: cronJobUid, misnamed: true });
    expect(annotated(automationId)).to.include({ misnamed: false });
  });

  it('is not an owner whose uid or name cannot be those of a CronJob', () => {
    for (const owner of [{ uid: 'not-a-uuid' }, { name: '..' }, { name: 'a/b' }, { name: 'x'.repeat(254) }]) {
      const ownerReferences = ofCronJob.map((one) => ({ ...one, ...owner }));
      expect(readJob(job({}, { ownerReferences }))).to.include({ automationId: uid, cronJob: undefined });
    }
  });

  it('is not an owner that does not control it', () => {
    const owners = [{ kind: 'CronJob', name: 'nightly', uid: cronJobUid }];
    expect(readJob(job({}, { ownerReferences: owners })).automationId).to.equal(uid);
  });
});
