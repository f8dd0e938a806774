import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { time } from './conditions.ts';
import { duration } from './duration.ts';
import type { Execution } from './execution.ts';
import { readAs } from './read-as.ts';

/** How many of the automation's newest executions have their durations compared. */
const most = 1_000;

/** The place of an execution among those of its automation. */
export interface Surroundings {
  /** The ids of the executions before and after it, by the first event. */
  previous: string | null;
  next: string | null;
  /** Percentiles of the newest executions' durations, in ms; null without any. */
  p50_ms: number | null;
  p95_ms: number | null;
  compared: number;
}

/** The neighbours of an execution, and the usual durations of its automation. */
export function aroundExecution(
  db: Database,
  organization: string,
  { automation, execution_id, first_event_at }: Pick<Execution, 'automation' | 'execution_id' | 'first_event_at'>,
): Promise<Surroundings> {
  const ofAutomation = sql`organization = ${organization} and automation_id = ${automation}::uuid`;
  const place = sql`(${time(first_event_at)}, ${execution_id})`;
  return readAs(db, organization, async (trx) => {
    const { rows } = await sql<Surroundings>`
      with ended as (
        select duration from (
          select ${duration} as duration from executions where ${ofAutomation}
          order by first_event_at desc limit ${sql.lit(most)}
        ) as newest where duration is not null
      )
      select
        (select execution_id from executions where ${ofAutomation}
          and first_event_at <= ${time(first_event_at)} and (first_event_at, execution_id) < ${place}
          order by first_event_at desc, execution_id desc limit 1) as previous,
        (select execution_id from executions where ${ofAutomation}
          and first_event_at >= ${time(first_event_at)} and (first_event_at, execution_id) > ${place}
          order by first_event_at, execution_id limit 1) as next,
        (select percentile_cont(0.5) within group (order by duration) from ended) as p50_ms,
        (select percentile_cont(0.95) within group (order by duration) from ended) as p95_ms,
        (select count(*)::integer from ended) as compared
    `.execute(trx);
    const [row] = rows;
    if (row === undefined) throw new Error('a select of aggregates has one row');
    return row;
  });
}
