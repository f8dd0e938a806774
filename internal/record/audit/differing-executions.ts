import { mostAhead } from '../../event/occurred-at.ts';
import { everyExecution } from '../../store/compacted/expanded.ts';
import { sql } from '../../store/sql.ts';
import type { Finding } from './finding.ts';
import type { Reading } from './read-database.ts';

/** An execution that differs from its events. */
export interface DifferingExecution extends Finding {
  /** False if events that retention deleted may explain it. */
  readonly certain: boolean;
}

/**
 * The first execution that differs from its events in a column, is missing, or has no events. If it
 * began before the first kept day (`since`, ms), some events may have expired: it certainly differs
 * only if it counts fewer events than there are.
 */
export async function differingExecution(
  trx: Reading,
  organization: string,
  since: number,
): Promise<DifferingExecution | undefined> {
  const keptSince = new Date(Math.max(0, since + mostAhead));
  const { rows } = await sql<{ automation_id: string; execution_id: string; certain: boolean; is_absent: boolean }>`
    with counted as (
      select automation_id, execution_id,
        count(*) filter (where kind = 'START') as starts, count(*) filter (where kind = 'EVENT') as events,
        count(*) filter (where kind = 'WARNING') as warnings, count(*) filter (where kind = 'ERROR') as errors,
        count(*) filter (where kind = 'END') as ends, min(coalesce(occurred_at, created_at)) as first_at,
        max(coalesce(occurred_at, created_at)) as last_at, max(created_at) filter (where occurred_at is not null) as accepted_at,
        min(coalesce(occurred_at, created_at)) filter (where kind = 'START') as start_at,
        min(coalesce(occurred_at, created_at)) filter (where kind = 'ERROR') as error_at,
        min(coalesce(occurred_at, created_at)) filter (where kind = 'END') as end_at
      from events where organization = ${organization} group by automation_id, execution_id
    ),
    present as (${everyExecution(organization)}),
    compared as (
      select automation_id, execution_id,
        coalesce(e.first_event_at, c.first_at) >= ${keptSince} as is_kept,
        (c.starts, c.events, c.warnings, c.errors, c.ends, c.first_at, c.last_at,
          c.start_at, c.error_at, c.end_at, c.accepted_at)
        is distinct from (e.start_count, e.event_count, e.warning_count, e.error_count, e.end_count, e.first_event_at,
          e.last_event_at, e.started_at, e.failed_at, e.ended_at, e.last_accepted_at) as differs,
        e.organization is null
          or c.starts is null and greatest(e.last_event_at, e.last_accepted_at) >= ${keptSince}
          or coalesce(e.start_count < c.starts or e.event_count < c.events or e.warning_count < c.warnings
            or e.error_count < c.errors or e.end_count < c.ends, false)
          or coalesce(e.first_event_at > c.first_at or e.last_event_at < c.last_at, false)
          as lacks_events,
        (e.state, e.start_missing, e.start_repeated, e.start_late, e.event_after_end) is distinct from (
          case when e.error_count > 0 then 'failed' when e.end_count > 0 then 'succeeded' else 'running' end,
          e.start_count = 0, e.start_count > 1, coalesce(e.started_at > e.first_event_at, false),
          coalesce(e.last_event_at > e.ended_at, false)) and e.organization is not null as is_computed_otherwise,
        e.organization is null as is_absent
      from counted c full join present e using (automation_id, execution_id)
    )
    select automation_id, execution_id, differs and is_kept or lacks_events or is_computed_otherwise as certain, is_absent
    from compared where differs or is_computed_otherwise
    order by certain desc, automation_id, execution_id limit 1
  `.execute(trx);
  return rows.map(({ automation_id, execution_id, certain, is_absent }) => ({
    sentence: `Execution ${execution_id} of automation ${automation_id} ${
      is_absent ? 'has events, and is not in the record: it was removed' : 'has another outcome than its events give'
    }.`,
    certain,
  }))[0];
}

/**
 * The finding about the first execution that is running but not in the table of running ones, or
 * vice versa: the console would show it wrongly, and no alert would say that it is lost.
 */
export async function differingRunning(trx: Reading, organization: string): Promise<Finding[]> {
  const { rows } = await sql<{ automation_id: string; execution_id: string; runs: boolean }>`
    with running as (
      select automation_id, execution_id, first_event_at from (${everyExecution(organization)}) as e
      where error_count = 0 and end_count = 0
    ),
    listed as (
      select automation_id, execution_id, first_event_at from running_executions where organization = ${organization}
    )
    select automation_id, execution_id, e.first_event_at is not null as runs
    from running e full join listed l using (automation_id, execution_id)
    where e.first_event_at is distinct from l.first_event_at
    order by automation_id, execution_id limit 1
  `.execute(trx);
  return rows.map(({ automation_id, execution_id, runs }) => ({
    sentence: `Execution ${execution_id} of automation ${automation_id} ${
      runs ? 'runs, and the list of running executions differs' : 'does not run, and is in the list of running ones'
    }: the list was changed.`,
  }));
}
