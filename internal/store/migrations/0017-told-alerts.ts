import { sql, type Kysely } from 'kysely';

/**
 * An alert keeps what was declared when it opened, and the webhooks that were told then: they hear
 * its end, whatever is declared by that time. Old rows are found by an index when they are deleted.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table alerts add column declared jsonb, add column told_webhooks jsonb`.execute(db);
  await sql`
    create index deliveries_over on deliveries (coalesce(delivered_at, given_up_at))
    where delivered_at is not null or given_up_at is not null
  `.execute(db);
  await sql`create index record_gaps_until on record_gaps (until_at)`.execute(db);
}
