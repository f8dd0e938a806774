import { withDaysInError } from './error-context.ts';
import type { Database } from './database.ts';
import { dayAfter, dayOf, daysBefore, daysFrom } from './days.ts';
import { withMaintenanceLock } from './with-maintenance-lock.ts';
import {
  countDefaultRows,
  createPartition,
  lockEvents,
  makeDefaultThePartitionOf,
  only,
  partitionName,
  partitionOf,
  type DayRange,
} from './partitions.ts';
import { dropBefore } from './retention.ts';

export interface MaintenanceOptions {
  /** Now, in ms since the Unix epoch. */
  now: number;
  /** Days after today that shall have a partition. */
  daysAhead: number;
  /** Days before today that are kept; 0 keeps everything. */
  retentionDays: number;
}

/** What a run changed. */
export interface MaintenanceReport {
  /** Partitions made and dropped, by the name of the table. */
  created: string[];
  dropped: string[];
  /** Events moved from the DEFAULT partition to that of their day. */
  moved: number;
}

/**
 * Most events of a day that are moved: nobody reads or writes meanwhile, a third of a second for so
 * many.
 */
const mostMoved = 100_000;

/**
 * Makes the partitions of today, of the days ahead and of events that strayed into the DEFAULT
 * partition, and drops what is past retention. Each step is a short transaction of its own that
 * gives up rather than make writers wait long; the run then rejects with an error that names the
 * day, and the next one goes on.
 *
 * Events of a day are moved at once, since one that is neither in DEFAULT nor in its partition
 * would be invisible, and stored a second time when delivered again. Where they are too many for
 * that, the DEFAULT partition itself becomes theirs.
 */
export async function maintain(db: Database, options: MaintenanceOptions): Promise<MaintenanceReport> {
  const today = dayOf(options.now);
  const defaultRows = await countDefaultRows(db);
  const defaultRowsOf = (day: number): number => defaultRows.get(day) ?? 0;
  const wanted = [...new Set([...daysFrom(today, options.daysAhead + 1), ...defaultRows.keys()])];
  const report: MaintenanceReport = { created: [], dropped: [], moved: 0 };

  // What is hardest comes last, so that it cannot keep the rest from being done.
  const tooMany = wanted.filter((day) => defaultRowsOf(day) > mostMoved);
  const range = tooMany.length === 0 ? undefined : { from: Math.min(...tooMany), to: dayAfter(Math.max(...tooMany)) };
  // A partition of a day between two of these would stand in the way of theirs.
  const toMove = wanted.filter((day) => range === undefined || day < range.from || day >= range.to);
  toMove.sort((a, b) => defaultRowsOf(a) - defaultRowsOf(b));
  for (const day of toMove) {
    // Today's first events may come at any time; those of a day ahead do not.
    await ensurePartition(db, day, { eventsMayCome: defaultRowsOf(day) > 0 || day <= today, report });
  }
  if (options.retentionDays > 0) {
    report.dropped = await dropBefore(db, daysBefore(today, options.retentionDays));
  }
  if (range !== undefined) await turnDefaultInto(db, range, report);
  return report;
}

interface EnsureOptions {
  eventsMayCome: boolean;
  report: MaintenanceReport;
}

async function ensurePartition(db: Database, day: number, { eventsMayCome, report }: EnsureOptions): Promise<void> {
  await withDaysInError(only(day), () =>
    withMaintenanceLock(db, async (trx, present) => {
      if (partitionOf(day, present) !== undefined) return;
      if (eventsMayCome) await lockEvents(trx);
      report.moved += await createPartition(trx, day);
      report.created.push(partitionName(only(day)));
    }),
  );
}

async function turnDefaultInto(db: Database, range: DayRange, report: MaintenanceReport): Promise<void> {
  await withDaysInError(range, () =>
    withMaintenanceLock(db, async (trx, present) => {
      if (partitionOf(range.from, present) !== undefined) return;
      await lockEvents(trx);
      await makeDefaultThePartitionOf(trx, range);
      report.created.push(partitionName(range));
    }),
  );
}
