import { sql, type Kysely } from 'kysely';
import { showToReaders } from './show-to-readers.ts';

/** Partitions of `executions`. A later migration can split them one by one. */
const modulus = 16;

/** Executions with their outcome, and a separate table for running ones. */
export async function createExecutions(db: Kysely<unknown>): Promise<void> {
  await createPartitions(db);
  await createRunningExecutions(db);
  await showToReaders(db, 'executions', 'running_executions');
}

/**
 * State and anomalies are generated columns, so the rule has one place and no writer can get it
 * wrong. The times follow `occurred_at` where a caller sent it. `last_accepted_at` is when the
 * newest event was accepted, which retention and readers need.
 */
async function createPartitions(db: Kysely<unknown>): Promise<void> {
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
      last_accepted_at timestamptz(3),
      primary key (organization, automation_id, execution_id)
    ) partition by hash (organization)
  `.execute(db);
  for (let remainder = 0; remainder < modulus; remainder += 1) {
    // While a backlog drains, a batch updates most executions that the batch before added, and they
    // are neighbors. Half of each page stays free so that these updates stay in their page.
    await sql`
      create table ${sql.table(`executions_${remainder}`)} partition of executions
      for values with (modulus ${sql.lit(modulus)}, remainder ${sql.lit(remainder)}) with (fillfactor = 50)
    `.execute(db);
  }
}

/**
 * A table instead of an index on the state, which would make each END a slow update
 * (docs/design/outcomes.md). Who writes `executions` also writes it
 * (`../../running-executions.ts`).
 */
async function createRunningExecutions(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table running_executions (
      organization text collate "C" not null,
      automation_id uuid not null,
      execution_id text collate "C" not null,
      first_event_at timestamptz(3) not null,
      lost_at timestamptz(3),
      primary key (organization, automation_id, execution_id)
    )
  `.execute(db);
  await sql`create index running_executions_newest on running_executions (organization, first_event_at)`.execute(db);
  await sql`
    create index running_executions_lost on running_executions (organization, first_event_at) where lost_at is not null
  `.execute(db);
}
