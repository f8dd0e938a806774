import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import type { EventBody } from './answer.ts';

const insertEvent = `
  insert into events (organization, created_at, id, automation_id, execution_id, kind, description, error_id, error_description)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

const updateOutcome = `
  insert into executions as e (
    organization, automation_id, execution_id, first_event_at, last_event_at, started_at, failed_at, ended_at,
    start_count, event_count, warning_count, error_count, end_count
  )
  values (
    $1, $3, $4, $2, $2, case when $5 = 'START' then $2::timestamptz end, case when $5 = 'ERROR' then $2::timestamptz end, case when $5 = 'END' then $2::timestamptz end,
    ($5 = 'START')::integer, ($5 = 'EVENT')::integer, ($5 = 'WARNING')::integer, ($5 = 'ERROR')::integer, ($5 = 'END')::integer
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

/**
 * Stores one event and the outcome of its execution, two prepared statements in a transaction, over
 * ten connections.
 */
export function createStoreOne(): (event: EventBody, organization: string, createdAt: Date) => Promise<void> {
  const pool = new Pool({ connectionString: process.env['DATABASE_URL'], max: 10 });
  return async (event, organization, createdAt) => {
    const { automation_id: automation, execution_id: execution, event: kind, description = '' } = event;
    const texts = [description, event.error_id ?? '', event.error_description ?? ''];
    const row = [organization, createdAt, randomUUID(), automation, execution, kind, ...texts];
    const client = await pool.connect();
    try {
      await client.query('begin');
      await client.query({ name: 'insert-event', text: insertEvent, values: row });
      const values = [organization, createdAt, automation, execution, kind];
      await client.query({ name: 'update-outcome', text: updateOutcome, values });
      await client.query('commit');
      client.release();
    } catch (error) {
      client.release(true);
      throw error;
    }
  };
}
