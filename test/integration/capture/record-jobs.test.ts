import { expect } from 'chai';
import type { ChangedJob } from '../../../internal/controller/capture/changed-job.ts';
import { readJob } from '../../../internal/controller/capture/read-job.ts';
import { recordJobs } from '../../../internal/controller/capture/record-jobs.ts';
import { readRecorded } from '../../../internal/controller/capture/captured-jobs.ts';
import { createIdentitySource } from '../../../internal/event/identity.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { compactAll, countPlaces } from '../../support/compacted.ts';
import { anEvent } from '../../support/events.ts';
import { startProducer } from '../../support/producer.ts';
import { emptyRedis } from '../../support/servers.ts';
import { eachDatabase } from '../../support/store.ts';
import { storedEvents } from '../../support/suite-ingest.ts';

const uid = '4b5f1e5c-0d0b-4f0e-9a63-0d1f4f3f0a01';
const at = (second: number): string => `2026-11-25T02:30:${String(second).padStart(2, '0')}Z`;

/** A Job that failed; Kubernetes says so with this message. */
function failedJob(message: string): ChangedJob {
  const failed = { type: 'Failed', status: 'True', lastTransitionTime: at(9), reason: 'BackoffLimitExceeded', message };
  const facts = readJob({
    metadata: { uid, namespace: 'acme', name: 'nightly', creationTimestamp: at(0) },
    status: { startTime: at(1), conditions: [failed] },
  });
  return { uid, organization: 'acme', facts, failures: [], gone: false };
}

describe('a captured Job that failed', () => {
  const database = eachDatabase();

  it('is not recorded again once its execution is compacted', async () => {
    const { db } = database;
    const job = failedJob('first');
    const automationId = job.facts?.automationId ?? '';
    const events = (['START', 'ERROR', 'END'] as const).flatMap((kind) =>
      [uid, 'run 2', 'run 3', 'run 4'].map((executionId, after) =>
        anEvent({ automationId, executionId, kind, createdAt: Date.now() - 1_000 + after }),
      ),
    );
    await recordEvents(db, events);
    await compactAll(db);
    expect(await countPlaces(db)).to.deep.equal({ rows: 1, compacted: 3, keys: 3 });
    const known = await db.transaction().execute((trx) => readRecorded(trx, [job]));
    expect(known.map(({ recorded }) => [...recorded])).to.deep.equal([['START', 'ERROR', 'END']]);
  });

  it('is recorded whole when Redis refused it once, and its message changed meanwhile', async () => {
    const redis = await emptyRedis();
    const { producer, stop } = await startProducer(redis.url);
    try {
      const identify = createIdentitySource();
      const record = (job: ChangedJob) =>
        recordJobs(database.db, [job], {
          enqueueAll: (groups, which) => producer.enqueueAll(groups, which),
          identify,
        });
      await redis.command('set', '{runledger}:events:id', 'so that no job can be added');
      const refused = await record(failedJob('first'));
      expect(refused?.kinds).to.deep.equal([]);
      expect(refused?.error).to.be.an('error');
      await redis.command('del', '{runledger}:events:id');

      const result = await record(failedJob('second'));
      expect(result?.kinds).to.deep.equal(['START', 'ERROR', 'END']);
      const stored = await storedEvents(redis.url);
      expect(stored.map(({ kind }) => kind)).to.deep.equal(['START', 'ERROR', 'END']);
      expect(stored[1]).to.include({ errorId: 'BackoffLimitExceeded', errorDescription: 'second' });
      expect((await record(failedJob('third')))?.kinds).to.deep.equal([]);
    } finally {
      await stop();
    }
  });
});
