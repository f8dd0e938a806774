import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { Archive } from '../../../internal/record/archive/archive.ts';
import { maintain } from '../../../internal/store/partitions/maintain.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import type { FindArchived } from '../../../internal/store/partitions/archived.ts';
import { anEvent } from '../../support/events.ts';
import { runExport, temporaryFolder } from '../../support/export.ts';
import { day, keepAll, midnight } from '../../support/maintenance-day.ts';
import { startWorker } from '../../support/pipeline.ts';
import { emptyRedis } from '../../support/servers.ts';
import { eachDatabase, storedEvents, storedExecutions } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const old = midnight - 10 * day;

describe('retention with an archive', () => {
  const database = eachDatabase();
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let archive: Archive;
  beforeEach(async () => {
    folder = await temporaryFolder();
    archive = new Archive(database.db, pathToFileURL(folder.path).href);
  });
  afterEach(() => folder[Symbol.asyncDispose]());

  const retain = (find: FindArchived = (partition) => archive.find(partition)): ReturnType<typeof maintain> =>
    maintain(database.db, { ...keepAll, retentionDays: 3, findArchived: find });
  const runs = async (...args: string[]): Promise<void> => {
    const env = { DATABASE_URL: database.url, ARCHIVE_URL: pathToFileURL(folder.path).href };
    const { code, stderr } = await runExport(env, args);
    expect(code, stderr).to.equal(0);
  };
  const store = async (...events: Parameters<typeof anEvent>[0][]): Promise<void> => {
    await recordEvents(
      database.db,
      events.map((event) => anEvent({ createdAt: old, ...event })),
    );
    await maintain(database.db, keepAll);
  };

  it('waits until each organization of the day is exported', async () => {
    await store({}, { organization: 'globex' }, { createdAt: old + day }, { createdAt: midnight });
    const none = { partitions: 2, reason: 'no export of acme on 2026-11-11' };
    expect(await retain()).to.deep.include({ dropped: [], waiting: none });
    await runs('--organization', 'acme');
    const some = { partitions: 2, reason: 'no export of globex on 2026-11-11' };
    expect(await retain()).to.deep.include({ dropped: [], waiting: some });
    expect(await storedEvents(database.db)).to.have.lengthOf(4);
    await runs();
    const report = await retain();
    expect(report.dropped).to.deep.equal(['events_20261111', 'events_20261112']);
    expect(report).to.not.have.property('waiting');
    expect(await storedEvents(database.db)).to.have.lengthOf(1);
  });

  it('waits while the export lacks events, is changed or is gone', async () => {
    await store({});
    await runs('--format', 'csv');
    await store({ executionId: 'later' });
    const lacks = { partitions: 1, reason: 'the export of acme on 2026-11-11 lacks events, or has changed' };
    expect((await retain()).waiting).to.deep.equal(lacks);
    await runs('--format', 'csv', '--recheck');
    const object = join(folder.path, 'organization=acme/day=2026-11-11/events-2.csv');
    const bytes = await readFile(object);
    await writeFile(object, `${bytes.toString()} `);
    expect((await retain()).waiting).to.deep.equal(lacks);
    await rm(object);
    expect((await retain()).waiting).to.deep.equal(lacks);
    await writeFile(`${object}.manifest.json`, '{}');
    expect((await retain()).waiting?.reason).to.match(/events-2.csv.manifest.json is not a manifest/);
    await runs();
    await rm(`${object}.manifest.json`);
    expect((await retain()).dropped).to.deep.equal(['events_20261111']);
  });

  it('drops no event that comes while it looks, nor one of a day that comes again', async () => {
    await store({});
    await runs();
    const late = await retain(async (partition) => {
      const found = await archive.find(partition);
      await recordEvents(database.db, [anEvent({ createdAt: old, executionId: 'late' })]);
      return found;
    });
    expect(late.waiting).to.deep.equal({ partitions: 1, reason: 'events_20261111 has got further events' });
    await runs('--recheck');
    expect((await retain()).dropped).to.deep.equal(['events_20261111']);

    await store({ executionId: 'again' });
    expect((await retain()).waiting?.reason).to.match(/lacks events/);
    await runs('--recheck');
    expect((await retain()).dropped).to.deep.equal(['events_20261111']);
  });

  it('can be closed after it could not be opened', async () => {
    await store({});
    const elsewhere = new Archive(database.db, 'file://elsewhere/archive');
    const report = await retain((partition) => elsewhere.find(partition));
    expect(report.waiting?.reason).to.contain('File URL host');
    await elsewhere.close();
  });

  it('is that of a worker with ARCHIVE_URL', async () => {
    await store({});
    const { url: REDIS_URL } = await emptyRedis();
    const settings = { REDIS_URL, DATABASE_URL: database.url, RETENTION_DAYS: '1' };
    await using worker = await startWorker({ ...settings, ARCHIVE_URL: pathToFileURL(folder.path).href });
    await until('retention waits', async () =>
      (await worker.telemetry.registry.metrics()).includes('runledger_archive_waiting_partitions{process="worker"} 4'),
    );
    expect(await storedEvents(database.db)).to.have.lengthOf(1);
  });

  it('keeps an execution that has events in a partition that waits', async () => {
    await store({ executionId: 'long' }, { executionId: 'short' }, { executionId: 'long', createdAt: old + day });
    await runs('--to', '2026-11-12');
    expect((await retain()).dropped).to.deep.equal(['events_20261111']);
    const left = await storedExecutions(database.db);
    expect(left.map(({ executionId }) => executionId)).to.deep.equal(['long']);
    await runs();
    await retain();
    expect(await storedExecutions(database.db)).to.deep.equal([]);
  });
});
