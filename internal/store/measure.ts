import { sql } from 'kysely';
import type { Database } from './database.ts';
import { dayOf, daysFrom } from './days.ts';
import { listPartitions, partitionOf } from './partitions.ts';

/** How the partitions stand. */
export interface PartitionFigures {
  /** Days in a row, from today on, that have a partition. */
  daysAhead: number;
  /** Events in the DEFAULT partition. */
  defaultRows: number;
}

/**
 * Reads how the partitions stand, of today and as many days after it as are wanted. `now` is in ms
 * since the Unix epoch.
 */
export async function measurePartitions(
  db: Database,
  { now, daysAhead }: { now: number; daysAhead: number },
): Promise<PartitionFigures> {
  const present = await listPartitions(db);
  const days = daysFrom(dayOf(now), daysAhead + 1);
  const firstMissing = days.findIndex((day) => partitionOf(day, present) === undefined);
  return { daysAhead: firstMissing === -1 ? days.length : firstMissing, defaultRows: await countDefaultRows(db) };
}

async function countDefaultRows(db: Database): Promise<number> {
  const { rows } = await sql<{ rows: number }>`select count(*)::integer as rows from events_default`.execute(db);
  return rows[0]?.rows ?? 0;
}
