import { sql, type Kysely } from 'kysely';

/** The deliveries of a webhook that wait, by the time of the next attempt: a look reads a few. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index deliveries_of_webhook
      on deliveries (organization, webhook_namespace, webhook_name, next_attempt_at, sequence)
      where delivered_at is null and given_up_at is null
  `.execute(db);
}
