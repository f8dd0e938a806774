import { sql, type Kysely } from 'kysely';

/**
 * Events by day, executions with their outcome, and dead letters. Keys use the collation "C": it
 * compares faster, and a new libc cannot change the order of an index.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createEvents(db);
  await createExecutions(db);
  await indexRunningExecutions(db);
  await createDeadLetters(db);
}

async function createEvents(db: Kysely<unknown>): Promise<void> {
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
      primary key (organization, created_at, id)
    ) partition by range (created_at)
  `.execute(db);
  await sql`comment on column events.automation_as_sent is 'automation_id as the caller wrote it, where that is not the canonical lower-case form'`.execute(
    db,
  );
  await sql`create table events_default partition of events default`.execute(db);
  await indexEventsOfExecutions(db);
}

/**
 * Finds the history of an execution. Without time and id, its entries are equal and Postgres stores
 * them once: 41 bytes an event instead of 176. The column of fixed width comes first, since it
 * compares fastest (test/bench/README.md).
 */
async function indexEventsOfExecutions(db: Kysely<unknown>): Promise<void> {
  await sql`create index events_of_execution on events (automation_id, execution_id, organization)`.execute(db);
}

/**
 * State and anomalies are generated columns: one place for the rule, and no writer can get it
 * wrong.
 */
async function createExecutions(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table executions (
      organization text collate "C" not null,
      automation_id uuid not null,
      execution_id text collate "C" not null,
      state text not null generated always as (
        case when error_count > 0 then 'failed' when end_count > 0 then 'succeeded' else 'running' end
      ) stored,
      first_event_at timestamptz(3) not null,
      last_event_at timestamptz(3) not null,
      started_at timestamptz(3),
      failed_at timestamptz(3),
      ended_at timestamptz(3),
      start_count integer not null,
      event_count integer not null,
      warning_count integer not null,
      error_count integer not null,
      end_count integer not null,
      start_missing boolean not null generated always as (start_count = 0) stored,
      start_repeated boolean not null generated always as (start_count > 1) stored,
      start_late boolean not null generated always as (coalesce(started_at > first_event_at, false)) stored,
      event_after_end boolean not null generated always as (coalesce(last_event_at > ended_at, false)) stored,
      primary key (organization, automation_id, execution_id)
    ) with (fillfactor = 80)
  `.execute(db);
}

/**
 * Finds running executions, oldest first, without reading ended ones. Only the first and the last
 * event of an execution change this index.
 */
async function indexRunningExecutions(db: Kysely<unknown>): Promise<void> {
  await sql`create index executions_running on executions (first_event_at) where state = 'running'`.execute(db);
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
