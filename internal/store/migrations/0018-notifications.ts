import { sql, type Kysely } from 'kysely';

/**
 * Deliveries that wait, by age: to give up the oldest ones, and to say how old they are. The labels
 * under which an Alertmanager knows an alert as open, so that it is resolved under the same ones.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`set local lock_timeout = '200ms'`.execute(db);
  await sql`
    create index deliveries_waiting on deliveries (created_at) where delivered_at is null and given_up_at is null
  `.execute(db);
  await sql`drop index deliveries_due`.execute(db);
  await sql`alter table alert_notices add column known_as jsonb not null default '[]'`.execute(db);
  await sql`create index alert_notices_known on alert_notices (receiver, alert_id) where known_as <> '[]'`.execute(db);
}
