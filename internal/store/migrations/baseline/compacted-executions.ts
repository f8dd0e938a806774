import { sql, type Kysely } from 'kysely';
import { allColumns, expanded } from '../../compacted/expanded.ts';
import { showToReaders } from './show-to-readers.ts';

/**
 * Old executions, many of an automation in one row, so that they take a fifth of the disk
 * (docs/design/outcomes.md). An execution is in `executions` or in one of these rows.
 */
export async function createCompactedExecutions(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table compacted_executions (
      organization text collate "C" not null,
      id integer not null,
      automation_id uuid not null,
      oldest timestamptz(3) not null,
      newest timestamptz(3) not null,
      last_at timestamptz(3) not null,
      executions integer not null,
      failures integer not null,
      anomalies integer not null,
      ids uuid[] not null,
      names text[],
      first_after integer[] not null,
      last_after integer[] not null,
      started_after integer[] not null,
      failed_after integer[] not null,
      ended_before integer[] not null,
      accepted_after integer[] not null,
      start_counts integer[] not null,
      event_counts integer[] not null,
      warning_counts integer[] not null,
      error_counts integer[] not null,
      end_counts integer[] not null,
      primary key (organization, id)
    )
  `.execute(db);
  await createIndexes(db);
  await sql`
    create table compacted_keys (
      block integer not null,
      key integer not null,
      organization text collate "C" not null,
      primary key (organization, key, block)
    )
  `.execute(db);
  await showToReaders(db, 'compacted_executions', 'compacted_keys');
  await createView(db);
  await refuseChanges(db);
}

/**
 * Blocks with failures and with anomalies are few, and lists of these look for them. `oldest` lets
 * an index alone tell which blocks lie around a time.
 */
async function createIndexes(db: Kysely<unknown>): Promise<void> {
  for (const [name, on] of Object.entries({
    newest: '(organization, newest) include (oldest)',
    of_automation: '(organization, automation_id, newest) include (oldest)',
    with_failures_of_automation: '(organization, automation_id, newest) where failures > 0',
    with_failures: '(organization, newest) where failures > 0',
    with_anomalies: '(organization, newest) where anomalies > 0',
  })) {
    await sql`create index ${sql.raw(`compacted_executions_${name}`)} on compacted_executions ${sql.raw(on)}`.execute(
      db,
    );
  }
}

/** All executions, for people with SQL. */
async function createView(db: Kysely<unknown>): Promise<void> {
  await sql`
    create view every_execution with (security_invoker = true) as
    select ${allColumns} from executions union all ${expanded(sql`select * from compacted_executions`)}
  `.execute(db);
}

/** What a worker calls when it finds that it has added a row for a compacted execution. */
async function refuseChanges(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function refuse_compacted() returns boolean language plpgsql as $$
    begin
      raise exception 'an execution is compacted' using errcode = 'RL002';
    end
    $$
  `.execute(db);
}
