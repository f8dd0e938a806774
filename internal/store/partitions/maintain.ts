import type { MaintenanceReport } from '../../event/outcome/maintenance-report.ts';
import type { MacKey } from '../../ledger/mac.ts';
import { withDaysInError } from '../error-context.ts';
import { compactBefore, type CompactionProgress, type CompactionSizes } from '../compacted/compact.ts';
import type { Database } from '../database.ts';
import { coolBefore } from './cool.ts';
import { dayAfter, dayOf, daysBefore, daysFrom } from './days.ts';
import { isOnMove } from '../organizations/here.ts';
import { withMaintenanceLock } from './with-maintenance-lock.ts';
import {
  countDefaultRows,
  createPartition,
  listPartitions,
  lockEvents,
  makeDefaultThePartitionOf,
  only,
  partitionName,
  partitionOf,
  type DayRange,
} from './partitions.ts';
import type { FindArchived } from './archived.ts';
import { dropBefore } from './retention.ts';

export interface MaintenanceOptions {
  /** The time of Postgres, in ms since the Unix epoch. */
  now: number;
  /** Days after today that get a partition. */
  daysAhead: number;
  /** Days before today that are kept; 0 keeps everything. */
  retentionDays: number;
  /**
   * Days before today whose events stay in Postgres; 0, or absent, keeps them as long as
   * executions.
   */
  hotDays?: number;
  /** How executions are compacted once their events are in the archive only. */
  compaction?: CompactionSizes;
  /** How far earlier runs of this process have compacted. */
  compacted?: CompactionProgress | undefined;
  /** Retention drops only what the archive holds. Absent without an archive. */
  findArchived?: FindArchived | undefined;
  /** If given, logs get acts of retention. */
  macKey?: MacKey | undefined;
}

/**
 * Most events of one day that are moved, which blocks readers and writers for a third of a second.
 * Beyond that, the DEFAULT partition becomes the day's partition.
 */
const mostMoved = 100_000;

/**
 * Creates the partitions of today, the days ahead and days with rows in DEFAULT, and drops
 * partitions that only the archive keeps from now on, and those past retention. Each step is a
 * short transaction that gives up rather than block writers; the run then rejects with the day, and
 * the next run continues. The events of a day move together: one in neither table would be
 * invisible, and a redelivery would store it twice. While an organization is on a move from or to
 * this database, rows in DEFAULT and retention wait.
 */
export async function maintain(db: Database, options: MaintenanceOptions): Promise<Changes> {
  const today = dayOf(options.now);
  const defaultRows = await countDefaultRows(db);
  const defaultRowsOf = (day: number): number => defaultRows.get(day) ?? 0;
  const wanted = [...new Set([...daysFrom(today, options.daysAhead + 1), ...defaultRows.keys()])];
  const report: Changes = { created: [], dropped: [], moved: 0 };

  // The hardest step comes last, so that it cannot block the others.
  const tooMany = wanted.filter((day) => defaultRowsOf(day) > mostMoved);
  const range = tooMany.length === 0 ? undefined : { from: Math.min(...tooMany), to: dayAfter(Math.max(...tooMany)) };
  // A new partition between two of these days would overlap theirs.
  const toMove = wanted.filter((day) => range === undefined || day < range.from || day >= range.to);
  toMove.sort((a, b) => defaultRowsOf(a) - defaultRowsOf(b));
  for (const day of toMove) {
    // Events of today may arrive at any time, events of a later day do not.
    await ensurePartition(db, day, { eventsMayCome: defaultRowsOf(day) > 0 || day <= today, report });
  }
  if (await isOnMove(db)) report.waitsForMove = true;
  else {
    const { retentionDays, hotDays = 0, findArchived } = options;
    if (hotDays > 0 && findArchived !== undefined) {
      Object.assign(report, await coolBefore(db, { hottest: daysBefore(today, hotDays), findArchived }));
    }
    if (retentionDays > 0) {
      const oldest = daysBefore(today, retentionDays);
      Object.assign(report, await dropBefore(db, { oldest, today, ...options }));
    }
  }
  if (range !== undefined) await turnDefaultInto(db, range, report);
  // It may take minutes, and nothing waits for it.
  if (!report.waitsForMove) Object.assign(report, await compactCold(db, options, today));
  return report;
}

/** What a run did, and why retention did nothing if so. */
export type Changes = Omit<MaintenanceReport, 'clockAheadMs' | 'clocksDiffer'> & {
  /** How far this and earlier runs have compacted. */
  compactedTo?: CompactionProgress;
};

/**
 * Compacts the executions whose events are in the archive only: retention looks for compacted ones
 * where days are cold. Once a day suffices.
 */
async function compactCold(
  db: Database,
  { hotDays = 0, compaction, compacted }: MaintenanceOptions,
  today: number,
): Promise<Pick<Changes, 'compacted' | 'compactsOn' | 'compactedTo'>> {
  if (hotDays === 0) return {};
  const [first] = await listPartitions(db);
  const hottest = daysBefore(today, hotDays);
  const before = Math.min(hottest, first?.from ?? hottest);
  if (compacted?.isDone && compacted.before === before) return { compactedTo: compacted };
  const { executions, progress } = await compactBefore(db, before, compaction, compacted?.after);
  return {
    ...(executions > 0 && { compacted: executions }),
    ...(executions > 0 && progress?.isDone === false && { compactsOn: true }),
    ...(progress !== undefined && { compactedTo: progress }),
  };
}

interface EnsureOptions {
  eventsMayCome: boolean;
  report: Changes;
}

async function ensurePartition(db: Database, day: number, { eventsMayCome, report }: EnsureOptions): Promise<void> {
  await withDaysInError(only(day), () =>
    withMaintenanceLock(db, async (trx, present) => {
      if (partitionOf(day, present) !== undefined) return;
      if (eventsMayCome) await lockEvents(trx);
      const moved = await createPartition(trx, day);
      if (moved === undefined) return;
      report.moved += moved;
      report.created.push(partitionName(only(day)));
    }),
  );
}

async function turnDefaultInto(db: Database, range: DayRange, report: Changes): Promise<void> {
  await withDaysInError(range, () =>
    withMaintenanceLock(db, async (trx, present) => {
      if (partitionOf(range.from, present) !== undefined) return;
      await lockEvents(trx);
      await makeDefaultThePartitionOf(trx, range);
      report.created.push(partitionName(range));
    }),
  );
}
