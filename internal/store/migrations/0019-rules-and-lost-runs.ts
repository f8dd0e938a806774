import { sql, type Kysely } from 'kysely';

/**
 * Since when each rule of a declaration holds, runs that never end, and the times for which
 * Kubernetes scheduled Jobs (docs/watch/verdicts.md).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Writers wait behind the locks: give up early, migrateToLatest tries again.
  await sql`set local lock_timeout = '200ms'`.execute(db);
  await sql`
    alter table automations
      add column rules jsonb not null default '{}',
      add column note text,
      add column declared boolean not null default true
  `.execute(db);
  await sql`alter table alerts drop constraint alerts_kind_check`.execute(db);
  await sql`
    alter table alerts add constraint alerts_kind_check
      check (kind in ('missing', 'late', 'overrunning', 'failing', 'lost', 'unknown'))
  `.execute(db);
  await sql`
    create table known_organizations (
      organization text collate "C" primary key,
      silent boolean not null default false
    )
  `.execute(db);
  await createScheduledRuns(db);
  await markLostRuns(db);
}

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

/** The function of migration 0003, and: a lost run that sends an event is no longer lost. */
async function markLostRuns(db: Kysely<unknown>): Promise<void> {
  await sql`alter table running_executions add column lost_at timestamptz(3)`.execute(db);
  await sql`
    create index running_executions_lost on running_executions (organization, first_event_at) where lost_at is not null
  `.execute(db);
  await sql`
    create or replace function keep_running_executions() returns trigger language plpgsql
    set search_path from current
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    as $$
    begin
      if tg_op = 'INSERT' then
        insert into running_executions (organization, automation_id, execution_id, first_event_at)
        select organization, automation_id, execution_id, first_event_at from changed where state = 'running'
        on conflict (organization, automation_id, execution_id) do update set first_event_at = excluded.first_event_at;
      elsif tg_op = 'UPDATE' then
        delete from running_executions r using changed c
        where c.state <> 'running'
          and (r.organization, r.automation_id, r.execution_id) = (c.organization, c.automation_id, c.execution_id);
        update running_executions r set first_event_at = c.first_event_at, lost_at = null from changed c
        where c.state = 'running' and (c.first_event_at <> r.first_event_at or c.last_event_at > r.lost_at)
          and (r.organization, r.automation_id, r.execution_id) = (c.organization, c.automation_id, c.execution_id);
      else
        delete from running_executions r using changed c
        where c.state = 'running'
          and (r.organization, r.automation_id, r.execution_id) = (c.organization, c.automation_id, c.execution_id);
      end if;
      return null;
    end
    $$
  `.execute(db);
}
