import { sql, type Transaction } from 'kysely';
import type { Database, Tables } from './database.ts';
import {
  createPartition,
  dayOf,
  daysBefore,
  daysFrom,
  deleteExecutionsOf,
  dropPartition,
  listPartitions,
  listStrayDays,
  partitionName,
  type ExecutionKeyRow,
} from './partitions.ts';

export interface MaintenanceOptions {
  /** Now, in ms since the Unix epoch. */
  now: number;
  /** Days after today that shall have a partition. */
  daysAhead: number;
  /** Days before today that are kept; 0 keeps everything. */
  retentionDays: number;
}

/** What a run did. */
export interface MaintenanceReport {
  created: string[];
  dropped: string[];
  moved: number;
  defaultRows: number;
  daysAhead: number;
}

/** One at a time in the whole cluster. The number is Runledger's own. */
const maintenanceLock = 7_215_004_112;

/**
 * Makes the partitions of today, of the days ahead and of events that strayed into the DEFAULT partition, and drops what
 * is past retention. Each step is a short transaction of its own that gives up rather than make writers wait long;
 * the run then rejects, and the next one goes on.
 */
export async function maintain(db: Database, options: MaintenanceOptions): Promise<MaintenanceReport> {
  const today = dayOf(options.now);
  const report: MaintenanceReport = { created: [], dropped: [], moved: 0, defaultRows: 0, daysAhead: 0 };
  const wanted = new Set([...daysFrom(today, options.daysAhead + 1), ...(await listStrayDays(db))]);
  for (const day of wanted) {
    report.moved += await locked(db, async (trx, present) => {
      if (present.includes(day)) return 0;
      report.created.push(partitionName(day));
      return createPartition(trx, day);
    });
  }
  if (options.retentionDays > 0) {
    report.dropped = await dropBefore(db, daysBefore(today, options.retentionDays));
  }
  const present = await listPartitions(db);
  report.daysAhead = daysFrom(today, options.daysAhead + 1).filter((day) => present.includes(day)).length;
  report.defaultRows = await countDefaultRows(db);
  return report;
}

async function dropBefore(db: Database, oldest: number): Promise<string[]> {
  const dropped: string[] = [];
  for (const day of (await listPartitions(db)).filter((candidate) => candidate < oldest)) {
    await deleteExecutionsEndingOn(db, day);
    await locked(db, async (trx, present) => {
      if (!present.includes(day)) return;
      await dropPartition(trx, day);
      dropped.push(partitionName(day));
    });
  }
  await db.deleteFrom('dead_letters').where('dead_at', '<', new Date(oldest)).execute();
  return dropped;
}

async function deleteExecutionsEndingOn(db: Database, day: number): Promise<void> {
  let last: ExecutionKeyRow | undefined;
  do {
    const after = last;
    last = await locked(db, async (trx, present) =>
      present.includes(day) ? deleteExecutionsOf(trx, day, after) : undefined,
    );
  } while (last !== undefined);
}

async function countDefaultRows(db: Database): Promise<number> {
  const { rows } = await sql<{ rows: number }>`select count(*)::integer as rows from events_default`.execute(db);
  return rows[0]?.rows ?? 0;
}

/** Runs a step under the lock, with the partitions that are there once it is held. */
function locked<T>(db: Database, step: (trx: Transaction<Tables>, present: number[]) => Promise<T>): Promise<T> {
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(maintenanceLock)})`.execute(trx);
    await sql`set local lock_timeout = '2s'`.execute(trx);
    return step(trx, await listPartitions(trx));
  });
}
