import type { ExecutionState } from '../event/outcome/execution-state.ts';
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
}

/**
 * The query of the figures of an automation's executions that began in a window, of the newest
 * `most`. `automation` is an expression.
 */
export function figuresOf(
  organization: string,
  automation: Condition,
  { from, to }: Bounds,
  most: number,
): RawBuilder<FiguresRow> {
  const wanted = all([
    sql`organization = ${organization} and automation_id = ${automation}`,
    sql`first_event_at >= ${from} and first_event_at < ${to}`,
  ]);
  return sql<FiguresRow>`
    select
      count(*) filter (where state = 'running')::integer as running,
      count(*) filter (where state = 'succeeded')::integer as succeeded,
      count(*) filter (where state = 'failed')::integer as failed,
      percentile_cont(array[0.5, 0.95]) within group (order by duration) as percentiles,
      count(*)::integer as counted,
      min(first_event_at) as oldest
    from (
      select state, first_event_at, ${duration} as duration
      from executions where ${wanted} order by first_event_at desc limit ${most}
    ) as newest
  `;
}

/** A window's times as parameters. */
export function timesOf({ from, to }: Window): Bounds {
  return { from: time(from), to: time(to) };
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
