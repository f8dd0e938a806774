import { sql, type Kysely } from 'kysely';

/**
 * The times up to which webhooks about executions are in the outbox, of organizations that are
 * behind the others: so none waits for another.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`set local lock_timeout = '200ms'`.execute(db);
  await sql`alter table controller_state add column executions_behind jsonb not null default '{}'`.execute(db);
}
