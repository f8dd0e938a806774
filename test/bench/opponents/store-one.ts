import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import type { EventBody } from './answer.ts';

/** The INSERT of an event and the upsert of its outcome, in one statement: one way to Postgres and one commit an event. */
const text = `
  with event as (
    insert into events (organization, created_at, id, automation_id, execution_id, kind, description, error_id, error_description)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  )
  insert into executions as e (
    organization, automation_id, execution_id, first_event_at, last_event_at, started_at, failed_at, ended_at,
    start_count, event_count, warning_count, error_count, end_count
  )
  values (
    $1, $4, $5, $2, $2, case when $6 = 'START' then $2::timestamptz end, case when $6 = 'ERROR' then $2::timestamptz end, case when $6 = 'END' then $2::timestamptz end,
    ($6 = 'START')::integer, ($6 = 'EVENT')::integer, ($6 = 'WARNING')::integer, ($6 = 'ERROR')::integer, ($6 = 'END')::integer
  )
  on conflict (organization, automation_id, execution_id) do update set
    first_event_at = least(e.first_event_at, excluded.first_event_at),
    last_event_at = greatest(e.last_event_at, excluded.last_event_at),
    started_at = least(e.started_at, excluded.started_at),
    failed_at = least(e.failed_at, excluded.failed_at),
    ended_at = least(e.ended_at, excluded.ended_at),
    start_count = e.start_count + excluded.start_count,
    event_count = e.event_count + excluded.event_count,
    warning_count = e.warning_count + excluded.warning_count,
    error_count = e.error_count + excluded.error_count,
    end_count = e.end_count + excluded.end_count`;

/** Stores one event by a prepared statement, over a pool of ten connections. */
export function createStoreOne(): (event: EventBody, organization: string, createdAt: Date) => Promise<unknown> {
  const pool = new Pool({ connectionString: process.env['DATABASE_URL'], max: 10 });
  return (event, organization, createdAt) =>
    pool.query({
      name: 'store-one',
      text,
      values: [
        organization,
        createdAt,
        randomUUID(),
        event.automation_id,
        event.execution_id,
        event.event,
        event.description ?? '',
        event.error_id ?? '',
        event.error_description ?? '',
      ],
    });
}
