import { sql, type RawBuilder } from 'kysely';
import type { AcceptedEvent } from '../event/event.ts';
import { booleanArray, textArray, timeArray, uuidArray } from './array-parameters.ts';
import { blocksWith, hasExecution, keyOfText } from './compacted/expanded.ts';
import { searchByKey } from './search-by-key.ts';

/** What a batch says of one execution. Times are in ms since the Unix epoch. */
interface Touched {
  organization: string;
  automation: string;
  execution: string;
  first: number;
  last: number;
  over: boolean;
}

/**
 * The statements that follow the merge of a batch: they remove the executions that are over from
 * `running_executions`, and the marks of those that are not lost. They fail if an execution is in a
 * block (`isCompacted`). The merge waits for other writers of an execution, and only a later
 * statement sees what these have done.
 */
export function keepRunning(events: readonly AcceptedEvent[]): RawBuilder<unknown>[] {
  const touched = [...touchedBy(events).values()];
  const blocks = blocksWith({
    organization: sql`t.organization`,
    automationId: sql`t.automation_id`,
    executionId: sql`t.execution_id`,
    key: sql`t.key`,
  });
  const keep = sql`
    with touched as materialized (
      select * from unnest(
        ${textArray(touched.map(({ organization }) => organization))},
        ${uuidArray(touched.map(({ automation }) => automation))},
        ${textArray(touched.map(({ execution }) => execution))},
        ${booleanArray(touched.map(({ over }) => over))},
        ${timeArray(touched.map(({ first }) => first))},
        ${timeArray(touched.map(({ last }) => last))},
        ${touched.map(({ execution }) => keyOfText(execution))}::integer[]
      ) as t (organization, automation_id, execution_id, is_over, first_at, last_at, key)
    ),
    ended as (
      delete from running_executions r using touched t
      where t.is_over
        and (r.organization, r.automation_id, r.execution_id) = (t.organization, t.automation_id, t.execution_id)
    ),
    found as (
      select from touched t cross join lateral (${blocks}) as c
      where (select exists (select from compacted_executions)) and ${hasExecution(sql`c`, sql`t.execution_id`)}
    )
    update running_executions r set first_event_at = least(r.first_event_at, t.first_at),
      lost_at = case when r.lost_at >= t.last_at then r.lost_at end
    from touched t
    where (select case when exists (select from found) then refuse_compacted() else true end)
      and not t.is_over and (t.first_at < r.first_event_at or t.last_at > r.lost_at)
      and (r.organization, r.automation_id, r.execution_id) = (t.organization, t.automation_id, t.execution_id)
  `;
  return [searchByKey, keep];
}

function touchedBy(events: readonly AcceptedEvent[]): ReadonlyMap<string, Touched> {
  const touched = new Map<string, Touched>();
  for (const { organization, automationId, executionId, kind, createdAt, occurredAt } of events) {
    const automation = automationId.toLowerCase();
    // No text in Postgres has a NUL.
    const key = `${automation}${organization}\0${executionId}`;
    const at = occurredAt ?? createdAt;
    const over = kind === 'END' || kind === 'ERROR';
    const known = touched.get(key);
    if (known === undefined) {
      touched.set(key, { organization, automation, execution: executionId, first: at, last: at, over });
      continue;
    }
    known.first = Math.min(known.first, at);
    known.last = Math.max(known.last, at);
    known.over ||= over;
  }
  return touched;
}
