import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { time } from './conditions.ts';
import { readAs } from './read-as.ts';

/** Most running executions that are counted. */
const most = 10_000;

/** Running executions, and how many of them began before a time. */
export interface RunningCounts {
  running: number;
  overdue: number;
  /** True if there are more than were counted. */
  more: boolean;
}

/** Counts running executions that are not lost: the oldest 10,000 at most. */
export function countRunningOf(db: Database, organization: string, overdueBefore: Date): Promise<RunningCounts> {
  return readAs(db, organization, async (trx) => {
    const { rows } = await sql<Omit<RunningCounts, 'more'>>`
      select count(*)::integer as running,
        (count(*) filter (where first_event_at < ${time(overdueBefore)}))::integer as overdue
      from (
        select first_event_at from running_executions where organization = ${organization} and lost_at is null
        order by first_event_at limit ${sql.lit(most)}
      ) as oldest
    `.execute(trx);
    const { running, overdue } = rows[0] ?? { running: 0, overdue: 0 };
    return { running, overdue, more: running === most };
  });
}
