import { sql, type Kysely } from 'kysely';
import { showToReaders } from './show-to-readers.ts';

/**
 * Events, with a partition for each day of acceptance, and dead letters. `salt` belongs to the
 * texts and is erased with them. `texts_digest` is what an erasure leaves, so that the leaf can
 * still be computed (docs/design/log.md).
 */
export async function createEvents(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table events (
      organization text collate "C" not null,
      created_at timestamptz(3) not null,
      id uuid not null,
      automation_id uuid not null,
      automation_as_sent text,
      execution_id text collate "C" not null,
      kind text not null check (kind in ('START', 'EVENT', 'WARNING', 'ERROR', 'END')),
      description text not null,
      error_id text not null,
      error_description text not null,
      occurred_at timestamptz(3),
      salt bytea,
      texts_digest bytea,
      primary key (organization, created_at, id)
    ) partition by range (created_at)
  `.execute(db);
  await sql`comment on column events.automation_as_sent is 'automation_id as the caller wrote it, where that is not the canonical lower-case form'`.execute(
    db,
  );
  await sql`create table events_default partition of events default`.execute(db);
  await indexEventsOfExecutions(db);
  await showToReaders(db, 'events');
  await createRewrittenEvents(db);
  await createColdDays(db);
  await createDeadLetters(db);
}

/**
 * Finds the history of an execution. Without time and id its entries are equal, so Postgres stores
 * them once: 41 bytes an event instead of 176. The fixed-width column comes first because it
 * compares fastest (test/bench/README.md).
 */
async function indexEventsOfExecutions(db: Kysely<unknown>): Promise<void> {
  await sql`create index events_of_execution on events (automation_id, execution_id, organization)`.execute(db);
}

/**
 * Streams know what they have sent by the transaction of each row. Moving an event out of DEFAULT,
 * or erasing its texts, writes a new row, so this table keeps the transaction that stored the
 * event. A column of `events` would be part of what the log signs.
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
  await showToReaders(db, 'rewritten_events');
}

/** The objects of the archive with the days that Postgres no longer has (`cold-days.ts`). */
async function createColdDays(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table cold_days (
      organization text collate "C" not null,
      day date not null,
      object text collate "C" not null,
      rows bigint not null,
      manifest_sha256 text not null,
      primary key (organization, day, object)
    )
  `.execute(db);
  await showToReaders(db, 'cold_days');
}

/**
 * `event` is bytes and `id` is text, so that every event that Postgres rejected elsewhere fits
 * here.
 */
async function createDeadLetters(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table dead_letters (
      organization text collate "C" not null,
      id text collate "C" not null,
      created_at timestamptz(3) not null,
      dead_at timestamptz(3) not null default now(),
      reason text not null,
      event bytea not null,
      primary key (organization, id)
    )
  `.execute(db);
}
