import type { ShownState } from '../event/outcome/execution-state.ts';
import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { automationsOf } from './automations-of.ts';
import { duration } from './duration.ts';
import { shownState } from './execution.ts';
import { readAs } from './read-as.ts';

/** Most automations read: those with the smallest ids. */
const most = 2_000;

/** An automation and its newest executions, newest first. */
export interface AutomationRuns {
  automation: string;
  runs: Run[];
}

export interface Run {
  execution_id: string;
  state: ShownState;
  first_event_at: string;
  /** In ms, as `durationOf` says. */
  duration_ms: number | null;
}

interface RunsRow {
  automation_id: string;
  ids: string[];
  states: ShownState[];
  begins: Date[];
  durations: (number | null)[];
}

/**
 * All automations, or those given, in the order of their ids, each with up to `count` of its newest
 * executions.
 */
export function newestRuns(
  db: Database,
  organization: string,
  count: number,
  only?: readonly string[],
): Promise<AutomationRuns[]> {
  const wanted =
    only === undefined
      ? automationsOf(organization, { most })
      : sql`select unnest(${Array.from(only)}::uuid[]) as automation_id`;
  return readAs(db, organization, async (trx) => {
    const { rows } = await sql<RunsRow>`
      select automations.automation_id, newest.* from (${wanted}) as automations
      cross join lateral (
        select array_agg(execution_id) as ids, array_agg(state) as states, array_agg(first_event_at) as begins,
          array_agg(${duration}) as durations
        from (
          select execution_id, ${shownState(organization)} as state, first_event_at, started_at, ended_at
          from executions as r
          where organization = ${organization} and automation_id = automations.automation_id
          order by first_event_at desc limit ${count}
        ) as runs
      ) as newest
      where ids is not null
      order by automations.automation_id
    `.execute(trx);
    return rows.map(({ automation_id, ids, states, begins, durations }) => ({
      automation: automation_id,
      runs: ids.map((execution_id, index) => ({
        execution_id,
        state: states[index] ?? 'running',
        first_event_at: begins[index]?.toISOString() ?? '',
        duration_ms: durations[index] ?? null,
      })),
    }));
  });
}
