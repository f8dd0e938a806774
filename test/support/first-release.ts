import { sql } from 'kysely';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import { eventKinds } from '../../internal/event/schema.ts';
import type { Database } from '../../internal/store/database.ts';

/**
 * Stores events as a worker of the first release: it knows the columns of migration 0001 only, and
 * no `occurred_at`.
 */
export async function recordAsFirstRelease(db: Database, events: AcceptedEvent[]): Promise<void> {
  const counts = eventKinds.map((kind) => `${kind.toLowerCase()}_count`);
  const times = { started_at: 'START', failed_at: 'ERROR', ended_at: 'END' };
  const sums = counts.map((count) => `${count} = e.${count} + excluded.${count}`);
  const firsts = ['first_event_at', ...Object.keys(times)].map((at) => `${at} = least(e.${at}, excluded.${at})`);
  await sql`
    with input as (
      select *, to_timestamp(ms / 1000) as created_at from unnest(
        ${events.map((event) => event.organization)}::text[],
        ${events.map((event) => event.createdAt)}::float8[],
        ${events.map((event) => event.id)}::uuid[],
        ${events.map((event) => event.automationId)}::uuid[],
        ${events.map((event) => event.executionId)}::text[],
        ${events.map((event) => event.kind)}::text[],
        ${events.map((event) => event.description)}::text[]
      ) as t (organization, ms, id, automation_id, execution_id, kind, description)
    ),
    inserted as (
      insert into events (organization, created_at, id, automation_id, execution_id, kind, description, error_id, error_description)
      select organization, created_at, id, automation_id, execution_id, kind, description, '', '' from input
    )
    insert into executions as e (
      organization, automation_id, execution_id, first_event_at, last_event_at,
      ${sql.raw([...Object.keys(times), ...counts].join(', '))}
    )
    select organization, automation_id, execution_id, min(created_at), max(created_at),
      ${sql.raw(
        Object.values(times)
          .map((kind) => `min(created_at) filter (where kind = '${kind}')`)
          .join(', '),
      )},
      ${sql.raw(eventKinds.map((kind) => `count(*) filter (where kind = '${kind}')`).join(', '))}
    from input group by organization, automation_id, execution_id
    order by automation_id, execution_id, organization
    on conflict (organization, automation_id, execution_id) do update set
      last_event_at = greatest(e.last_event_at, excluded.last_event_at),
      ${sql.raw([...firsts, ...sums].join(', '))}
  `.execute(db);
}
