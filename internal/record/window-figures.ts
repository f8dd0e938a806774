import type { ExecutionState } from '../event/outcome/execution-state.ts';
import { expanded, longestBlock } from '../store/compacted/expanded.ts';
import { mayBeCold } from '../store/partitions/cold-days.ts';
import { sql, type RawBuilder } from '../store/sql.ts';
import type { WindowFigures } from './automation.ts';
import { all, time, type Condition } from './conditions.ts';
import { duration } from './duration.ts';
import type { Window } from './filters.ts';

/** A row of {@link figuresOf}. */
export interface FiguresRow extends Record<ExecutionState, number> {
  /** p50 and p95 of the durations; null without any. */
  percentiles: [number, number] | null;
  /** Executions counted, and the time of the oldest. */
  counted: number;
  oldest: Date | null;
}

/** A window as expressions. */
interface Bounds {
  from: Condition;
  to: Condition;
  /** True if compacted executions may be in it. */
  old: boolean;
}

/**
 * The query of the figures of an automation's executions that began in a window, of the newest
 * `most`. `automation` is an expression.
 */
export function figuresOf(
  organization: string,
  automation: Condition,
  { from, to, old }: Bounds,
  most: number,
): RawBuilder<FiguresRow> {
  const ofAutomation = sql`organization = ${organization} and automation_id = ${automation}`;
  const within = sql`first_event_at >= ${from} and first_event_at < ${to}`;
  const newest = sql`
    select state, first_event_at, ${duration} as duration
    from executions where ${all([ofAutomation, within])} order by first_event_at desc limit ${most}
  `;
  return sql<FiguresRow>`
    select
      count(*) filter (where state = 'running')::integer as running,
      count(*) filter (where state = 'succeeded')::integer as succeeded,
      count(*) filter (where state = 'failed')::integer as failed,
      percentile_cont(array[0.5, 0.95]) within group (order by duration) as percentiles,
      count(*)::integer as counted,
      min(first_event_at) as oldest
    from (${old ? withCompacted(newest, { ofAutomation, from, to, within, most }) : newest}) as newest
  `;
}

/** What selects the executions of a window. */
interface Wanted {
  ofAutomation: Condition;
  from: Condition;
  to: Condition;
  within: Condition;
  most: number;
}

/**
 * The newest executions of a window, also of those that are compacted. Blocks of an automation do
 * not overlap: those that lie in the window, newest first, are read until they have enough.
 */
function withCompacted(newest: Condition, { ofAutomation, from, to, within, most }: Wanted): Condition {
  const blocks = sql`
    select c.* from (
      select organization, id, sum(case when newest < ${to} then executions end) over (
        order by newest desc, id rows between unbounded preceding and 1 preceding
      ) as later
      from (
        select organization, id, newest, executions from compacted_executions
        where ${ofAutomation} and oldest < ${to} and newest >= ${from} and newest < ${to} + ${longestBlock}
          and newest >= (select case when count(*) < ${most} then '-infinity' else min(first_event_at) end from in_rows)
        order by newest desc limit ${most} + 1
      ) as newest_ones
    ) as counted
    cross join lateral (
      select * from compacted_executions c where c.organization = counted.organization and c.id = counted.id offset 0
    ) as c
    where coalesce(later, 0) < ${most}
  `;
  return sql`
    with in_rows as materialized (${newest})
    select * from (
      select * from in_rows
      union all
      select state, first_event_at, ${duration} from (${expanded(blocks)}) as compacted where ${within}
    ) as both_of_them
    order by first_event_at desc limit ${most}
  `;
}

/** A window's times as parameters. */
export function timesOf({ from, to }: Window): Bounds {
  return { from: time(from), to: time(to), old: mayBeCold(from.getTime()) };
}

/** The figures without their times. */
export function countsOf(row: FiguresRow): Omit<WindowFigures, 'from' | 'to'> {
  const { running, succeeded, failed } = row;
  const [p50_ms, p95_ms] = row.percentiles?.map(Math.round) ?? [];
  return { counts: { running, succeeded, failed }, p50_ms: p50_ms ?? null, p95_ms: p95_ms ?? null };
}

/** The window begins later when it held more than `most` executions. */
export function windowFigures(row: FiguresRow, { from, to }: Window, most: number): WindowFigures {
  const begin = row.counted === most && row.oldest !== null ? row.oldest : from;
  return { from: begin.toISOString(), to: to.toISOString(), ...countsOf(row) };
}
