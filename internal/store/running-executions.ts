import { sql, type RawBuilder } from 'kysely';
import type { AcceptedEvent } from '../event/event.ts';

/** What a batch says of one execution. Times are in ms since the Unix epoch. */
interface Touched {
  organization: string;
  automation: string;
  execution: string;
  first: number;
  last: number;
  over: boolean;
}

/** Only a search per key suits both a short and a long list of running executions. */
const searchByKey = sql`
  select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true)
`;

/**
 * The statements that follow the merge of a batch: they remove the executions that are over from
 * `running_executions`, and the marks of those that are not lost. The merge waits for other writers
 * of an execution, and only a later statement sees the row that these have added.
 */
export function keepRunning(events: readonly AcceptedEvent[]): RawBuilder<unknown>[] {
  const touched = [...touchedBy(events).values()];
  const keep = sql`
    with touched as materialized (
      select organization, automation::uuid as automation_id, execution_id, is_over,
        to_timestamp(first_ms / 1000)::timestamptz(3) as first_at, to_timestamp(last_ms / 1000)::timestamptz(3) as last_at
      from unnest(
        ${touched.map(({ organization }) => organization)}::text[],
        ${touched.map(({ automation }) => automation)}::text[],
        ${touched.map(({ execution }) => execution)}::text[],
        ${touched.map(({ over }) => over)}::boolean[],
        ${touched.map(({ first }) => first)}::float8[],
        ${touched.map(({ last }) => last)}::float8[]
      ) as t (organization, automation, execution_id, is_over, first_ms, last_ms)
    ),
    ended as (
      delete from running_executions r using touched t
      where t.is_over
        and (r.organization, r.automation_id, r.execution_id) = (t.organization, t.automation_id, t.execution_id)
    )
    update running_executions r set first_event_at = least(r.first_event_at, t.first_at),
      lost_at = case when r.lost_at >= t.last_at then r.lost_at end
    from touched t
    where not t.is_over and (t.first_at < r.first_event_at or t.last_at > r.lost_at)
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
