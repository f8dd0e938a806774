import { sql, type Kysely } from 'kysely';

/**
 * Streams tell by the transaction of a row what they have sent. Moving an event out of DEFAULT, or
 * erasing its texts, writes a new row: this table keeps which transaction stored the event. A
 * column of `events` would be part of what the log signs.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table rewritten_events (
      organization text collate "C" not null,
      created_at timestamptz(3) not null,
      id uuid not null,
      stored_by xid8 not null,
      primary key (organization, created_at, id)
    )
  `.execute(db);
}
