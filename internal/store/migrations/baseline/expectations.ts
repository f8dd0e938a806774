import { sql, type Kysely } from 'kysely';
import { showToReaders } from './show-to-readers.ts';

/** Declarations of automations, their verdicts, and alerts (docs/watch/verdicts.md). */
export async function createExpectations(db: Kysely<unknown>): Promise<void> {
  await createAutomations(db);
  await createAlerts(db);
  await createScheduledRuns(db);
  await createController(db);
  await showToReaders(db, 'automations', 'alerts', 'alert_notices');
}

/**
 * There is no index on `next_at`, so an evaluation updates a row within its page. Reading all of
 * 10,000 rows takes a few milliseconds. `rules`: since when each rule of a declaration has held.
 */
async function createAutomations(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table automations (
      organization text collate "C" not null,
      automation_id uuid not null,
      namespace text not null,
      name text not null,
      uid text not null,
      generation bigint not null,
      display_name text not null,
      owner text not null,
      tags text[] not null default '{}',
      links jsonb not null,
      expect jsonb,
      alert_labels jsonb not null,
      suspend boolean not null,
      declared_at timestamptz(3) not null,
      next_at timestamptz(3),
      evaluated_at timestamptz(3),
      verdict jsonb,
      start_before timestamptz(3),
      last_start timestamptz(3),
      rules jsonb not null default '{}',
      note text,
      declared boolean not null default true,
      primary key (organization, automation_id)
    ) with (fillfactor = 50)
  `.execute(db);
  await sql`
    create table known_organizations (
      organization text collate "C" primary key,
      silent boolean not null default false
    )
  `.execute(db);
}

/**
 * An alert keeps what was declared when it opened, and the channels notified then: they hear of its
 * end whatever is declared by that time. `known_as`: the labels under which an Alertmanager knows
 * the alert as open, so that it is resolved under the same ones. `kept_back`: what a mute has kept
 * back, its opening or its end.
 */
async function createAlerts(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table alerts (
      id uuid not null,
      organization text collate "C" not null,
      automation_id uuid not null,
      kind text not null check (kind in ('missing', 'late', 'overrunning', 'failing', 'lost', 'unknown')),
      occurrence text collate "C" not null,
      reason text not null,
      facts jsonb not null,
      opened_at timestamptz(3) not null,
      seen_at timestamptz(3) not null,
      resolved_at timestamptz(3),
      resolved_reason text,
      declared jsonb,
      told_channels jsonb,
      kept_back text check (kept_back in ('opened', 'resolved')),
      primary key (organization, id),
      unique (organization, automation_id, kind, occurrence, opened_at)
    )
  `.execute(db);
  await sql`create index alerts_of_id on alerts (id)`.execute(db);
  await sql`create index alerts_open on alerts (organization, automation_id) where resolved_at is null`.execute(db);
  await sql`create index alerts_kept_back on alerts (organization, automation_id) where kept_back is not null`.execute(
    db,
  );
  await sql`create index alerts_newest on alerts (organization, opened_at, id)`.execute(db);
  await sql`create index alerts_resolved on alerts (resolved_at)`.execute(db);
  await sql`
    create table alert_notices (
      alert_id uuid not null,
      receiver text not null,
      organization text collate "C" not null,
      first_told_at timestamptz(3),
      resolved_told_at timestamptz(3),
      last_error text,
      known_as jsonb not null default '[]',
      primary key (organization, alert_id, receiver),
      foreign key (organization, alert_id) references alerts on delete cascade
    )
  `.execute(db);
  await sql`create index alert_notices_known on alert_notices (receiver, alert_id) where known_as <> '[]'`.execute(db);
}

/** The times for which Kubernetes scheduled Jobs. */
async function createScheduledRuns(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table scheduled_runs (
      organization text collate "C" not null,
      automation_id uuid not null,
      execution_id text collate "C" not null,
      scheduled_at timestamptz(3),
      recorded_at timestamptz(3) not null default now(),
      primary key (organization, automation_id, execution_id)
    )
  `.execute(db);
  await sql`create index scheduled_runs_oldest on scheduled_runs (recorded_at)`.execute(db);
}

/**
 * The one row that all controllers share; the times in which the record may lack events; and the
 * Kubernetes Jobs that a controller has seen, with their recorded events. Each is thus recorded
 * once, even if it is deleted while no controller runs.
 */
async function createController(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table controller_state (
      only_row boolean primary key default true check (only_row),
      watermark timestamptz(3),
      watermark_at timestamptz(3),
      ticked_at timestamptz(3),
      blind_since timestamptz(3),
      blind_reason text,
      executions_until timestamptz(3),
      executions_behind jsonb not null default '{}',
      alertmanagers text[] not null default '{}'
    )
  `.execute(db);
  await sql`insert into controller_state default values`.execute(db);
  await sql`
    create table record_gaps (
      from_at timestamptz(3) primary key,
      until_at timestamptz(3) not null,
      reason text not null
    )
  `.execute(db);
  await sql`create index record_gaps_until on record_gaps (until_at)`.execute(db);
  await sql`
    create table captured_jobs (
      uid text primary key,
      organization text not null,
      automation_id uuid not null,
      namespace text not null,
      name text not null,
      started_at timestamptz(3),
      recorded text[] not null default '{}',
      gone_at timestamptz(3)
    )
  `.execute(db);
}
