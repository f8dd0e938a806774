import { expect } from 'chai';
import { Client } from 'pg';
import { buildIndexes } from '../../../internal/store/partitions/build-indexes.ts';
import type { Database } from '../../../internal/store/database.ts';
import { createIndex, readerIndexes } from '../../../internal/store/partitions/indexes.ts';
import { maintain } from '../../../internal/store/partitions/maintain.ts';
import { migrateToLatest } from '../../../internal/store/migrate.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';
import { day, keepAll, now } from '../../support/maintenance-day.ts';
import { query } from '../../support/postgres-server.ts';
import { emptyDatabase } from '../../support/servers.ts';
import { openDatabase } from '../../support/store.ts';
import { until } from '../../support/until.ts';

/** The schema without the indexes for readers, as if this release were the first to know them. */
describe('an upgrade of a database in use', () => {
  let url: string;
  let db: Database;
  let other: Client;
  beforeEach(async () => {
    url = await emptyDatabase();
    db = openDatabase(url);
    await migrateToLatest(db);
    await maintain(db, keepAll);
    await recordEvents(db, [anEvent({ createdAt: now }), anEvent({ executionId: 'old', createdAt: now - 9 * day })]);
    for (const { name } of readerIndexes) await query(url, `drop index ${name}`);
    other = new Client({ connectionString: url });
    await other.connect();
  });
  afterEach(async () => {
    await other.end();
    await db.destroy();
  });

  const write = (executionId: string): Promise<unknown> => recordEvents(db, [anEvent({ executionId, createdAt: now })]);
  /** Each index on executions, and on each partition: valid, and attached to that of events. */
  const expectAllIndexes = async (): Promise<void> => {
    const broken = await query(url, 'select indexrelid::regclass from pg_index where not indisvalid');
    expect(broken).to.deep.equal([]);
    for (const { name, table } of readerIndexes) {
      const partitions = await query(url, `select inhrelid from pg_inherits where inhparent = '${table}'::regclass`);
      const attached = await query(url, `select inhrelid from pg_inherits where inhparent = '${name}'::regclass`);
      expect(attached.length, name).to.equal(partitions.length);
    }
  };
  /** A transaction of another worker, which a build must wait for. */
  const holdAnExecution = async (): Promise<void> => {
    await other.query('begin');
    await other.query('update executions set event_count = event_count + 1');
  };
  /** The indexes of the partitioned tables themselves, which hold nothing. */
  const createOnParents = async (): Promise<void> => {
    for (const index of readerIndexes) await createIndex(index, { ...index, how: 'only' }).execute(db);
  };
  /** Process ids of builds that wait for the end of a transaction. */
  const waitingBuilds = (): Promise<{ pid: number }[]> =>
    query(
      url,
      `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
       and query like 'create index concurrently%'`,
    ) as Promise<{ pid: number }[]>;
  const buildWaits = (): Promise<{ pid: number }[]> =>
    until('a build waits', async () => ((await waitingBuilds()).length > 0 ? waitingBuilds() : undefined));

  it('waits for a long writer, and other writers do not wait for the upgrade', async () => {
    await holdAnExecution();
    const migration = migrateToLatest(db);
    for (const number of [1, 2, 3, 4, 5]) await write(`new ${number}`);
    expect(await query(url, `select to_regclass('executions_newest') as built`)).to.deep.equal([{ built: null }]);
    await other.query('commit');
    await migration;
    await expectAllIndexes();
  }).timeout(60_000);

  it('builds indexes while workers write and make partitions', async () => {
    await createOnParents();
    await holdAnExecution();
    const build = buildIndexes(db, { concurrently: true });
    await buildWaits();
    await write('meanwhile');
    expect((await maintain(db, { ...keepAll, daysAhead: 3 })).created).to.include('events_20261124');
    await other.query('rollback');
    await build;
    await expectAllIndexes();
  }).timeout(60_000);

  it('continues where a build was interrupted', async () => {
    await createOnParents();
    await holdAnExecution();
    const build = failureOf(buildIndexes(db, { concurrently: true }));
    const [waiting] = await buildWaits();
    await query(url, `select pg_cancel_backend(${waiting?.pid})`);
    expect(String(await build)).to.contain('canceling statement due to user request');
    await other.query('rollback');
    expect(await query(url, 'select from pg_index where not indisvalid')).to.have.length.above(0);
    await buildIndexes(db, { concurrently: true });
    await expectAllIndexes();
  }).timeout(60_000);
});
