import type { Database } from '../store/database.ts';
import { expanded, longestBlock } from '../store/compacted/expanded.ts';
import { sql } from '../store/sql.ts';
import { time, type Condition } from './conditions.ts';
import { duration } from './duration.ts';
import type { Execution } from './execution.ts';
import { readAs } from './read-as.ts';

/** How many of the automation's newest executions are compared. None of these is compacted. */
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
  const isAfter = sql`newest >= ${time(first_event_at)}`;
  const isBefore = sql`oldest <= ${time(first_event_at)}
    and newest < ${time(first_event_at)} + ${longestBlock}`;
  const neighbor = (operator: '<' | '>', order: 'asc' | 'desc'): Condition => {
    const [side, direction] = [sql.raw(operator), sql.raw(order)];
    const beside = sql`first_event_at ${side}= ${time(first_event_at)} and (first_event_at, execution_id) ${side} ${place}`;
    const nearest = sql`order by first_event_at ${direction}, execution_id ${direction} limit 1`;
    // Blocks of an automation do not overlap: it is in the one around this time, or beside that.
    const blocks = sql`
      select * from compacted_executions
      where ${ofAutomation} and ${operator === '<' ? isBefore : isAfter}
      order by newest ${direction} limit 2
    `;
    return sql`
      select execution_id from (
        (select first_event_at, execution_id from executions where ${ofAutomation} and ${beside} ${nearest})
        union all
        select first_event_at, execution_id from (${expanded(blocks)}) as compacted where ${beside}
      ) as both_of_them ${nearest}
    `;
  };
  return readAs(db, organization, async (trx) => {
    const { rows } = await sql<Surroundings>`
      with ended as (
        select duration from (
          select ${duration} as duration from executions where ${ofAutomation}
          order by first_event_at desc limit ${sql.lit(most)}
        ) as newest where duration is not null
      )
      select
        (${neighbor('<', 'desc')}) as previous,
        (${neighbor('>', 'asc')}) as next,
        (select percentile_cont(0.5) within group (order by duration) from ended) as p50_ms,
        (select percentile_cont(0.95) within group (order by duration) from ended) as p95_ms,
        (select count(*)::integer from ended) as compared
    `.execute(trx);
    const [row] = rows;
    if (row === undefined) throw new Error('a select of aggregates has one row');
    return row;
  });
}
