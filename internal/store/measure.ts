import { sql } from 'kysely';
import type { PartitionFigures } from '../event/outcome/maintenance-report.ts';
import type { Database } from './database.ts';
import { dayOf, daysFrom } from './partitions/days.ts';
import { listPartitions, partitionOf } from './partitions/partitions.ts';

/**
 * Reads the state of the partitions of today and the wanted days after it. `now` is in ms since the
 * Unix epoch.
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
