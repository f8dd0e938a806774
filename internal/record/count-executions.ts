import type { ExecutionState } from '../outcome/execution-state.ts';
import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { time } from './conditions.ts';
import type { Window } from './filters.ts';
import { readAs } from './read-as.ts';

/** Most executions that are counted: the newest. */
const most = 500_000;

/** The executions that began in a step of a window. Steps without executions are absent. */
export interface CountedStep {
  at: string;
  counts: Record<ExecutionState, number>;
}

/** Steps begin at multiples of `stepMs` since the Unix epoch. */
export type Steps = Window & { stepMs: number };

/** Counts the executions of a window by step and state. */
export function countExecutions(
  db: Database,
  organization: string,
  { from, to, stepMs }: Steps,
): Promise<CountedStep[]> {
  const step = sql`${stepMs / 1_000}::integer * interval '1 second'`;
  return readAs(db, organization, async (trx) => {
    const { rows } = await sql<Record<ExecutionState, number> & { at: Date }>`
      select date_bin(${step}, first_event_at, timestamptz '1970-01-01 00:00:00Z') as at,
        (count(*) filter (where state = 'running'))::integer as running,
        (count(*) filter (where state = 'succeeded'))::integer as succeeded,
        (count(*) filter (where state = 'failed'))::integer as failed
      from (
        select first_event_at, state from executions
        where organization = ${organization} and first_event_at >= ${time(from)} and first_event_at < ${time(to)}
        order by first_event_at desc limit ${sql.lit(most)}
      ) as newest
      group by 1 order by 1
    `.execute(trx);
    return rows.map(({ at, running, succeeded, failed }) => ({
      at: at.toISOString(),
      counts: { running, succeeded, failed },
    }));
  });
}
