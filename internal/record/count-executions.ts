import type { ExecutionState } from '../event/outcome/execution-state.ts';
import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { time, type Condition } from './conditions.ts';
import type { Window } from './filters.ts';
import { readAs } from './read-as.ts';

/** Most executions counted per step. */
const most = 100_000;

/** The executions that began in a step of a window. Steps without executions are absent. */
export interface CountedStep {
  at: string;
  counts: Record<ExecutionState, number>;
  /** True if the step has more executions than were counted. */
  more?: boolean;
}

/**
 * Steps begin at multiples of `stepMs` since the Unix epoch, less `offsetMs`: a time zone's offset
 * makes days begin at its midnight.
 */
export type Steps = Window & { stepMs: number; offsetMs?: number | undefined };

/** The start of the step that contains a time, in ms. */
export function beginOfStep(time: number, { stepMs, offsetMs = 0 }: Pick<Steps, 'stepMs' | 'offsetMs'>): number {
  return Math.floor((time + offsetMs) / stepMs) * stepMs - offsetMs;
}

interface CountedRow {
  at: Date;
  total: number;
  failed: number;
  running: number;
}

/**
 * Counts the executions of a window by step and state. Indexes give the total, the failed and the
 * running ones; the rest succeeded.
 */
export function countExecutions(
  db: Database,
  organization: string,
  { from, to, stepMs, offsetMs }: Steps,
): Promise<CountedStep[]> {
  const step = sql`(${stepMs}::integer * interval '1 millisecond')`;
  const begin = new Date(beginOfStep(from.getTime(), { stepMs, offsetMs }));
  const last = new Date(to.getTime() - 1);
  const counted = (table: Condition, condition: Condition): Condition => sql`(
    select count(*)::integer from (
      select from ${table} where organization = ${organization} and ${condition}
        and first_event_at >= greatest(at, ${time(from)}) and first_event_at < least(at + ${step}, ${time(to)})
      limit ${sql.lit(most)}
    ) as counted
  )`;
  const executions = sql`executions`;
  return readAs(db, organization, async (trx) => {
    const { rows } = await sql<CountedRow>`
      select at, ${counted(executions, sql`true`)} as total,
        ${counted(executions, sql`failed_at is not null`)} as failed,
        ${counted(sql`running_executions`, sql`true`)} as running
      from generate_series(${time(begin)}, ${time(last)}, ${step}) as at
    `.execute(trx);
    return rows.filter(({ total }) => total > 0).map(stepOf);
  });
}

function stepOf({ at, total, failed, running }: CountedRow): CountedStep {
  const succeeded = Math.max(0, total - failed - running);
  return { at: at.toISOString(), counts: { running, succeeded, failed }, ...(total === most && { more: true }) };
}
