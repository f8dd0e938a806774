import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { Archive } from '../../../internal/record/archive/archive.ts';
import { ArchiveReader } from '../../../internal/record/archive/archive-reader.ts';
import { createQueries, type Queries } from '../../../internal/record/queries.ts';
import { defaultSizes } from '../../../internal/store/compacted/compact.ts';
import type { Database } from '../../../internal/store/database.ts';
import { dayOf, daysBefore } from '../../../internal/store/partitions/days.ts';
import { maintain } from '../../../internal/store/partitions/maintain.ts';
import { packDays } from '../../../internal/store/partitions/pack-days.ts';
import { withArchive } from '../../support/cold-days.ts';
import { namesIn, runExport, temporaryFolder } from '../../support/export.ts';
import { query } from '../../support/postgres-server.ts';
import { S3Server } from '../../support/s3-server.ts';
import { openDatabase } from '../../support/store.ts';
import { compactAll, measureCompaction } from '../harness/compaction.ts';
import { figure, percentile } from '../harness/figures.ts';
import { generateEvents } from './growth.ts';
import type { Scenario } from './scenario.ts';

/** Days of the record, and those of them that stay in Postgres. */
const [days, hotDays] = [90, 7];

/** The generated day is three days old. */
const coldAfter = 2;

/** Executions whose pages are read. */
const samples = 200;

/**
 * What an event takes on disk: in Postgres with its indexes, with its part of an execution, and in
 * the archive.
 *
 * The newest executions of an automation stay rows, and are not in the part that stays in Postgres:
 * at 10,000 events/s of 20,000 automations, 83 cold days have 14,300 million executions, of which
 * 50 million (0.35 %) stay rows. Of the one day here they are an eighth. The space that compacted
 * ones leave in `executions` is not in it either: new ones reuse it, as the last figure shows.
 */
export const keep: Scenario = async (world, { coldEvents }) => {
  await using folder = await temporaryFolder();
  const url = await world.createDatabase();
  await using cooled = await coolDay(url, coldEvents, folder.path);
  const { db, hot, executions, seconds } = cooled;
  const files = (await namesIn(folder.path)).map((name) => stat(join(folder.path, name)));
  const cold = (await Promise.all(files)).reduce((sum, { size }) => sum + size, 0) / coldEvents;
  const found = await measureCompaction(world, { db, url }, daysBefore(dayOf(Date.now()), coldAfter));
  const { compacted, rows, parts, before } = found;
  const events = coldEvents / (compacted + rows);
  const block = parts.reduce((sum, { bytes }) => sum + bytes, 0) / compacted;
  const coldDays = days - hotDays;
  const kept = (hotDays * (hot + executions) + coldDays * (block / events) + (days - 1) * cold) / days;
  const percent = (part: number): number => (100 * part) / before;
  return {
    figures: [
      figure('An event in Postgres, with its indexes', hot, 'B', { atMost: 420 }),
      figure('Its part of an execution that is a row', executions, 'B'),
      figure('Its part of an execution, which stays in Postgres', block / events, 'B'),
      figure('An event in the archive', cold, 'B'),
      figure(`An event kept for ${days} days, of which ${hotDays} are hot`, kept, 'B', { atMost: 90 }),
      figure('Export and check of a day', coldEvents / seconds, 'events/s'),
      figure('A compacted execution', block, 'B'),
      ...parts.map(({ name, bytes }) => figure(`Of which ${name}`, bytes / compacted, 'B')),
      figure('Compaction', compacted / found.seconds, 'executions/s'),
      figure('CPU of Postgres meanwhile', (1_000 * found.postgres) / compacted, 'µs/execution'),
      figure('Executions that stay rows', (100 * rows) / (compacted + rows), '%'),
      figure('The table of rows after a vacuum, of its size before', percent(found.vacuumed), '%'),
      figure('With as many new rows as were compacted', percent(found.reused), '%'),
    ],
  };
};

/**
 * An execution's page from the archive in a local S3, each time by a reader that has read nothing
 * before.
 */
export const cold: Scenario = async (world, { coldEvents }) => {
  await using stack = new AsyncDisposableStack();
  const server = stack.adopt(await S3Server.start(), (started) => started.stop());
  // The client of S3 takes them from the environment of its process.
  Object.assign(process.env, server.env);
  stack.defer(() => {
    for (const name of Object.keys(server.env)) delete process.env[name];
  });
  const [url, place] = [await world.createDatabase(), 's3://record/archive'];
  await using cooled = await coolDay(url, coldEvents, place, (db) => pagesOf(createQueries(db), url));
  const { db, before = [] } = cooled;
  await compactAll(db, url, daysBefore(dayOf(Date.now()), coldAfter));
  const times: number[] = [];
  for (const { execution, page } of before) {
    const reader = new ArchiveReader(place);
    const begun = performance.now();
    const { archived, ...found } = await readPage(createQueries(reader.of(db)), execution);
    times.push(performance.now() - begun);
    await reader.close();
    if (archived === undefined || !isDeepStrictEqual(found, page)) throw new Error('the archive answers otherwise');
  }
  const record = createQueries(withArchive(db, place));
  const searches: number[] = [];
  for (const q of ['no such text', 'nor this one', 'and none of these']) {
    const begun = performance.now();
    await record.listEvents('acme', { q, from: new Date(Date.now() - 5 * 24 * 3_600_000) }, { limit: 50 });
    searches.push(performance.now() - begun);
  }
  return {
    figures: [
      figure("An execution's page from the archive, p50", percentile(times, 0.5), 'ms', { atMost: 100 }),
      figure("An execution's page from the archive, p99", percentile(times, 0.99), 'ms', { atMost: 400 }),
      figure(`A search in ${coldEvents.toLocaleString('en')} events of the archive`, percentile(searches, 0.5), 'ms'),
    ],
    notes: ['The archive of `cold` is in an S3 server on this machine, that of `keep` in a folder.'],
  };
};

interface Execution {
  automationId: string;
  executionId: string;
}

/** Random executions, and their pages as Postgres has them. */
async function pagesOf(record: Queries, url: string) {
  const rows = await query<{ automation_id: string; execution_id: string }>(
    url,
    `select automation_id, execution_id from executions order by random() limit ${samples}`,
  );
  const executions = rows.map((row): Execution => ({ automationId: row.automation_id, executionId: row.execution_id }));
  return Promise.all(executions.map(async (execution) => ({ execution, page: await readPage(record, execution) })));
}

function readPage(record: Queries, execution: Execution): ReturnType<Queries['listTimeline']> {
  return record.listTimeline('acme', { ...execution, limit: 500, mostBytes: 512 * 1_024 });
}

/** Makes a day of events cold, after what is to be asked before. Its executions stay rows. */
async function coolDay<Before>(url: string, events: number, place: string, ask?: (db: Database) => Promise<Before>) {
  const db = openDatabase(url, 600_000);
  await makePartition(url);
  await generateEvents(url, events, 'older');
  // As the export does with days that stay hot.
  await packDays(db, { from: daysBefore(dayOf(Date.now()), hotDays), to: Date.now() });
  const sizeOf = async (table: string): Promise<number> => {
    const size = `select sum(pg_total_relation_size(relid))::float8 as bytes from pg_partition_tree('${table}')`;
    const [row] = await query<{ bytes: number }>(url, size);
    return (row?.bytes ?? 0) / events;
  };
  const [hot, executions] = [await sizeOf('events'), await sizeOf('executions')];
  const before = await ask?.(db);
  const begun = performance.now();
  await makeCold({ db, url }, place);
  const seconds = (performance.now() - begun) / 1_000;
  return { db, before, hot, executions, seconds, [Symbol.asyncDispose]: () => db.destroy() };
}

/** Exports the day and takes it out of Postgres. Compaction comes later: it is measured alone. */
async function makeCold({ db, url }: { db: Database; url: string }, place: string): Promise<void> {
  const address = place.includes('://') ? place : pathToFileURL(place).href;
  const env = { DATABASE_URL: url, ARCHIVE_URL: address, HOT_DAYS: String(coldAfter) };
  const { code, stderr } = await runExport(env, []);
  if (code !== 0) throw new Error(stderr);
  await using stack = new AsyncDisposableStack();
  const archive = stack.adopt(new Archive(db, address), (opened) => opened.close());
  const { cooled } = await maintain(db, {
    now: Date.now(),
    daysAhead: 2,
    retentionDays: 0,
    hotDays: coldAfter,
    compaction: { ...defaultSizes, newest: 2 ** 31 - 1 },
    findArchived: (...args) => archive.find(...args),
  });
  if (cooled?.length !== 1) throw new Error(`${cooled?.length} days became cold`);
}

/** The partition of the day that {@link generateEvents} fills. */
async function makePartition(url: string): Promise<void> {
  const day = new Date(Date.now() - 3 * 24 * 3_600_000).toISOString().slice(0, 10);
  await query(
    url,
    `create table if not exists events_${day.replaceAll('-', '')} partition of events
     for values from ('${day}T00:00:00Z') to (timestamptz '${day}T00:00:00Z' + interval '1 day')`,
  );
}
