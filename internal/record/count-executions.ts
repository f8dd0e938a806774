import type { ExecutionState } from '../event/outcome/execution-state.ts';
import type { Database } from '../store/database.ts';
import { longestBlockDays, startsIn } from '../store/compacted/expanded.ts';
import { mayBeCold } from '../store/partitions/cold-days.ts';
import { sql } from '../store/sql.ts';
import { time, type Condition } from './conditions.ts';
import type { Window } from './filters.ts';
import { readAs } from './read-as.ts';

const dayMs = 24 * 3_600_000;

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
  const compacted = compactedBySteps(organization, { from, to, begin, step });
  return readAs(db, organization, async (trx) => {
    const { rows } = await sql<CountedRow>`
      select at, least(${counted(executions, sql`true`)} + coalesce(compacted.total, 0), ${sql.lit(most)}) as total,
        least(${counted(executions, sql`failed_at is not null`)} + coalesce(compacted.failed, 0), ${sql.lit(most)}) as failed,
        ${counted(sql`running_executions`, sql`true`)} as running
      from generate_series(${time(begin)}, ${time(last)}, ${step}) as at
      left join (${compacted}) as compacted using (at)
    `.execute(trx);
    return rows.filter(({ total }) => total > 0).map(stepOf);
  });
}

interface CompactedSteps extends Window {
  begin: Date;
  step: Condition;
}

/**
 * The query of the compacted executions by step. A block that lies in one step has their number;
 * only the others are opened.
 */
function compactedBySteps(organization: string, { from, to, begin, step }: CompactedSteps): Condition {
  if (!mayBeCold(from.getTime())) return sql`select null::timestamptz as at, 0 as total, 0 as failed where false`;
  const stepOf = (column: string) => sql`date_bin(${step}, ${sql.ref(column)}, ${time(begin)})`;
  const blocks = sql`
    select *, ${stepOf('oldest')} = ${stepOf('newest')} and oldest >= ${time(from)} and newest < ${time(to)} as is_within
    from compacted_executions where organization = ${organization} and newest >= ${time(from)}
      and newest < ${time(new Date(to.getTime() + longestBlockDays * dayMs))} and oldest < ${time(to)}
  `;
  return sql`
    select at, sum(total)::integer as total, sum(failed)::integer as failed from (
      select ${stepOf('oldest')} as at, executions as total, failures as failed from (${blocks}) as b where is_within
      union all
      select ${stepOf('first_event_at')}, 1, failed::integer
      from (${startsIn(sql`select * from (${blocks}) as b where not is_within`)}) as starts
      where first_event_at >= ${time(from)} and first_event_at < ${time(to)}
    ) as counted
    group by at
  `;
}

function stepOf({ at, total, failed, running }: CountedRow): CountedStep {
  const succeeded = Math.max(0, total - failed - running);
  return { at: at.toISOString(), counts: { running, succeeded, failed }, ...(total === most && { more: true }) };
}
