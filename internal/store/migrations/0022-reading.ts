import { sql, type Kysely } from 'kysely';

/**
 * Which transaction stored an event that was written again, and what an entry of the access log
 * stands for.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createRewrittenEvents(db);
  await extendAccessLog(db);
}

/**
 * Streams tell by the transaction of a row what they have sent. Moving an event out of DEFAULT, or
 * erasing its texts, writes a new row: this table keeps which transaction stored the event. A
 * column of `events` would be part of what the log signs.
 */
async function createRewrittenEvents(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table rewritten_events (
      organization text collate "C" not null,
      created_at timestamptz(3) not null,
      id uuid not null,
      stored_by xid8 not null,
      primary key (organization, created_at, id)
    )
  `.execute(db);
  await sql`alter table rewritten_events enable row level security`.execute(db);
  await sql`create policy everybody on rewritten_events using (true) with check (true)`.execute(db);
}

/** `organization` is empty where nobody has logged in. */
async function extendAccessLog(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table access_log
      add column address text not null default '',
      add column requests integer not null default 1,
      drop constraint access_log_action_check,
      add constraint access_log_action_check
        check (action in ('looked', 'exported', 'tested', 'logged out', 'refused'))
  `.execute(db);
}
