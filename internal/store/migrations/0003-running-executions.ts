import { sql, type Kysely } from 'kysely';

/**
 * The table `running_executions`, which triggers keep. An index on the state would make each END a
 * slow update (ARCHITECTURE.md, "Reading"). `internal/store/fill-running.ts` adds the executions
 * that are older than the triggers.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Writers wait behind the lock of a trigger: give up early, migrateToLatest tries again.
  await sql`set local lock_timeout = '200ms'`.execute(db);
  await leaveRoomForUpdates(db);
  await createRunningExecutions(db);
  await grantToReaders(db);
  await createFunction(db);
  for (const operation of ['insert', 'update', 'delete']) {
    const rows = operation === 'delete' ? 'old' : 'new';
    await sql`
      create trigger ${sql.ref(`keep_running_executions_on_${operation}`)} after ${sql.raw(operation)} on executions
      referencing ${sql.raw(rows)} table as changed for each statement execute function keep_running_executions()
    `.execute(db);
  }
}

/**
 * A batch of a backlog updates most of the executions that the batch before added, all neighbours.
 * An update stays in its page while that has room, so half of each new page remains free.
 */
async function leaveRoomForUpdates(db: Kysely<unknown>): Promise<void> {
  await sql`alter table executions set (fillfactor = 50)`.execute(db);
}

async function createRunningExecutions(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table running_executions (
      organization text collate "C" not null,
      automation_id uuid not null,
      execution_id text collate "C" not null,
      first_event_at timestamptz(3) not null,
      primary key (organization, automation_id, execution_id)
    )
  `.execute(db);
  await sql`create index running_executions_newest on running_executions (organization, first_event_at)`.execute(db);
  await sql`alter table running_executions enable row level security`.execute(db);
  await sql`create policy everybody on running_executions using (true) with check (true)`.execute(db);
}

/** Grants the table to all readers of `executions`: a console may lack the reader role. */
async function grantToReaders(db: Kysely<unknown>): Promise<void> {
  await sql`
    do $$
    declare
      reader text;
    begin
      for reader in
        select case grantee when 0 then 'public' else grantee::regrole::text end
        from pg_class, aclexplode(relacl) where oid = 'executions'::regclass and privilege_type = 'SELECT'
      loop
        execute format('grant select on running_executions to %s', reader);
      end loop;
    end
    $$
  `.execute(db);
}

/**
 * A statement of a trigger sees what other transactions have committed while the statement before
 * waited for their rows. All writers of an execution hold its row, so they come here in turn. A
 * session plans these statements once, for the rows of its first batch: only an index scan for each
 * row suits all later batches.
 */
async function createFunction(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function keep_running_executions() returns trigger language plpgsql
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
        update running_executions r set first_event_at = c.first_event_at from changed c
        where c.state = 'running' and c.first_event_at <> r.first_event_at
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
