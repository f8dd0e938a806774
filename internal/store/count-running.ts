import { sql } from 'kysely';
import type { RunningExecutions } from '../event/outcome/maintenance-report.ts';
import type { Database } from './database.ts';

/** Most executions that are counted, which takes about half a second. */
const most = 1_000_000;

/**
 * Counts running executions, up to a million; beyond that both figures are too low. `overdueBefore`
 * is in ms since the Unix epoch.
 */
export async function countRunning(db: Database, overdueBefore: number): Promise<RunningExecutions> {
  const { rows } = await sql<RunningExecutions>`
    select
      count(*)::integer as running,
      (count(*) filter (where first_event_at < ${new Date(overdueBefore).toISOString()}::timestamptz))::integer as overdue
    from (
      select first_event_at from running_executions limit ${sql.lit(most)}
    ) as running
  `.execute(db);
  return rows[0] ?? { running: 0, overdue: 0 };
}
