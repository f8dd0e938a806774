import { sql } from 'kysely';
import type { Database } from './database.ts';

/**
 * Executions counted at most, so that the cost is bounded (about half a second) whatever callers
 * never end.
 */
const most = 1_000_000;

/**
 * Executions neither ended nor failed; and those of them whose first event is older than a given
 * time.
 */
export interface RunningExecutions {
  running: number;
  overdue: number;
}

/**
 * Counts executions that run, up to a million, oldest first. `overdueBefore` is in ms since the
 * Unix epoch.
 */
export async function countRunning(db: Database, overdueBefore: number): Promise<RunningExecutions> {
  const { rows } = await sql<RunningExecutions>`
    select
      count(*)::integer as running,
      (count(*) filter (where first_event_at < ${new Date(overdueBefore).toISOString()}::timestamptz))::integer as overdue
    from (
      select first_event_at from executions where state = 'running' order by first_event_at limit ${sql.lit(most)}
    ) as oldest
  `.execute(db);
  return rows[0] ?? { running: 0, overdue: 0 };
}
