import type { ExecutionState } from '../event/outcome/execution-state.ts';
import type { Database } from '../store/database.ts';
import { longestBlock, longestBlockMs, startsIn } from '../store/compacted/expanded.ts';
import { mayBeCold } from '../store/partitions/cold-days.ts';
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
 * The query of the compacted executions by step. A block that lies in one step has their number. Of
 * others, the times are in order, so two searches tell how many began in a step. Only failures are
 * read one by one.
 */
function compactedBySteps(organization: string, { from, to, begin, step }: CompactedSteps): Condition {
  if (!mayBeCold(from.getTime())) return sql`select null::timestamptz as at, 0 as total, 0 as failed where false`;
  const stepOf = (column: string) => sql`date_bin(${step}, ${sql.ref(column)}, ${time(begin)})`;
  const last = time(new Date(to.getTime() - 1));
  const isWithin = sql`${stepOf('oldest')} = ${stepOf('newest')} and oldest >= ${time(from)} and newest < ${time(to)}`;
  const blocks = sql`
    compacted_executions where organization = ${organization} and newest >= ${time(from)}
      and newest < ${time(to)} + ${longestBlock} and oldest < ${time(to)}
  `;
  /** How many executions of a block began before a time. */
  const before = (at: Condition): Condition => sql`width_bucket(
    greatest(0, least(ceil(extract(epoch from ${at} - oldest) * 1000), ${sql.lit(longestBlockMs)}))::integer - 1, first_after
  )`;
  return sql`
    select at, sum(total)::integer as total, sum(failed)::integer as failed from (
      select ${stepOf('oldest')} as at, executions as total, failures as failed from ${blocks} and ${isWithin}
      union all
      select at, ${before(sql`least(at + ${step}, ${time(to)})`)} - ${before(sql`greatest(at, ${time(from)})`)}, 0
      from (select * from ${blocks} and not (${isWithin})) as b cross join lateral
        generate_series(greatest(${stepOf('oldest')}, ${time(begin)}), least(newest, ${last}), ${step}) as at
      union all
      select ${stepOf('first_event_at')}, 0, 1
      from (${startsIn(sql`select * from ${blocks} and not (${isWithin}) and failures > 0`)}) as starts
      where failed and first_event_at >= ${time(from)} and first_event_at < ${time(to)}
    ) as counted
    group by at
  `;
}

function stepOf({ at, total, failed, running }: CountedRow): CountedStep {
  const succeeded = Math.max(0, total - failed - running);
  return { at: at.toISOString(), counts: { running, succeeded, failed }, ...(total === most && { more: true }) };
}
