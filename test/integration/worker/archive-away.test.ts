import { execFile } from 'node:child_process';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { dayOf } from '../../../internal/store/partitions/days.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { makeCold } from '../../support/cold-days.ts';
import { anEvent } from '../../support/events.ts';
import { namesIn, temporaryFolder } from '../../support/export.ts';
import { day } from '../../support/maintenance-day.ts';
import { startWorker } from '../../support/pipeline.ts';
import { jobCounts, plainJob, withQueue } from '../../support/queue.ts';
import { emptyRedis } from '../../support/servers.ts';
import { eachDatabase, storedEvents, storedExecutions } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const old = dayOf(Date.now()) - 8 * day;

describe('a worker whose archive is away', () => {
  const database = eachDatabase();

  it('stores all others at once while its volume hangs', async () => {
    await using folder = await temporaryFolder();
    const stored = anEvent({ createdAt: old });
    await recordEvents(database.db, [stored]);
    await makeCold(database, folder.path);
    const [, manifest = ''] = (await namesIn(folder.path)).map((name) => join(folder.path, name));
    const content = await readFile(manifest);
    await rm(manifest);
    // Whoever opens it waits for a writer.
    await promisify(execFile)('mkfifo', [manifest]);
    const redis = await emptyRedis();
    const jobs = [[stored], [anEvent({ description: 'recent' })]];
    await withQueue(redis.url, async (queue) => {
      for (const events of jobs) await queue.add('events', plainJob(events));
    });
    const settings = { REDIS_URL: redis.url, DATABASE_URL: database.url, ARCHIVE_URL: pathToFileURL(folder.path).href };
    await using _ = await startWorker({ ...settings, HOT_DAYS: '2' });
    await until('all others are stored', async () => (await storedEvents(database.db)).length === 1);
    expect(await jobCounts(redis)).to.include({ active: 1, delayed: 0 });
    await writeFile(manifest, content);
    await until('no job waits', async () => Object.values(await jobCounts(redis)).every((jobs) => jobs === 0));
    expect(await storedEvents(database.db)).to.have.lengthOf(1);
  });

  it('keeps events of cold days in the queue until the archive answers, and stores all others', async () => {
    await using folder = await temporaryFolder();
    const stored = anEvent({ createdAt: old, executionId: 'stored', description: 'again' });
    await recordEvents(database.db, [stored]);
    const place = join(folder.path, 'archive');
    await makeCold(database, place);
    await rename(place, `${place}-away`);

    const redis = await emptyRedis();
    const late = anEvent({ createdAt: old + 1, executionId: 'late', description: 'late' });
    const jobs = [[stored], [late], [anEvent({ executionId: 'recent', description: 'recent' })]];
    await withQueue(redis.url, async (queue) => {
      for (const events of jobs) await queue.add('events', plainJob(events));
    });
    const settings = { REDIS_URL: redis.url, DATABASE_URL: database.url, ARCHIVE_URL: pathToFileURL(place).href };
    await using _ = await startWorker({ ...settings, HOT_DAYS: '2' });
    const descriptions = async () => (await storedEvents(database.db)).map(({ description }) => description).sort();
    await until('all others are stored', async () => (await descriptions()).includes('recent'));
    await until('two jobs wait', async () => (await jobCounts(redis)).delayed === 2);
    expect(await descriptions()).to.deep.equal(['recent']);

    await rename(`${place}-away`, place);
    await withQueue(redis.url, async (queue) => {
      await until('no job waits', async () => {
        for (const job of await queue.getDelayed()) await job.promote().catch(() => undefined);
        return Object.values(await jobCounts(redis)).every((jobs) => jobs === 0);
      });
    });
    expect(await descriptions()).to.deep.equal(['late', 'recent']);
    const counts = (await storedExecutions(database.db)).map((run) => [run.executionId, run.counts.EVENT]);
    expect(Object.fromEntries(counts)).to.deep.equal({ stored: 1, late: 1, recent: 1 });
  });
});
