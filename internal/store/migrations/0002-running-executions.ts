import { sql, type Kysely } from 'kysely';

/**
 * Finds executions that run, oldest first, without reading those that are over: they are few among many. Only an
 * execution that begins or ends touches this index; events in between do not.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index executions_running on executions (first_event_at) where state = 'running'`.execute(db);
}
