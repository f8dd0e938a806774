import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import type { Steps } from './count-executions.ts';
import { time } from './conditions.ts';
import { readAs } from './read-as.ts';

/** Most errors that are counted: the newest, as in the list of groups. */
const most = 10_000;

/** ERROR events of one automation with one `error_id` in a step of a window. */
export interface ErrorCount {
  automation: string;
  error_id: string;
  at: string;
  count: number;
}

/** Counts the errors of a window by automation, `error_id` and step. */
export function countErrors(
  db: Database,
  organization: string,
  { from, to, stepMs, offsetMs = 0 }: Steps,
): Promise<ErrorCount[]> {
  const step = sql`${stepMs / 1_000}::integer * interval '1 second'`;
  return readAs(db, organization, async (trx) => {
    const { rows } = await sql<{ automation_id: string; error_id: string; at: Date; count: number }>`
      select automation_id, error_id, count(*)::integer as count,
        date_bin(${step}, created_at, ${time(new Date(-offsetMs))}) as at
      from (
        select automation_id, error_id, created_at from events
        where organization = ${organization} and kind = 'ERROR'
          and created_at >= ${time(from)} and created_at < ${time(to)}
        order by created_at desc, id desc limit ${sql.lit(most)}
      ) as newest
      group by automation_id, error_id, at
    `.execute(trx);
    return rows.map(({ automation_id, error_id, at, count }) => ({
      automation: automation_id,
      error_id,
      at: at.toISOString(),
      count,
    }));
  });
}
