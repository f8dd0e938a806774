import { sql, type Kysely } from 'kysely';

/**
 * The map of organizations to databases, which counts in the first one; the state of moves, in each
 * database that organizations leave; and the approvals of people for a retention that would drop
 * many partitions at once.
 */
export async function createOperations(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table organization_databases (
      organization text collate "C" primary key,
      database text not null,
      since timestamptz(3) not null default now(),
      stream_since text
    )
  `.execute(db);
  await createMoves(db);
  await guardMoves(db);
  await sql`
    create table retention_approvals (
      before date not null,
      approved_at timestamptz(3) not null default now(),
      approved_by text not null default session_user
    )
  `.execute(db);
}

async function createMoves(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table moved_organizations (
      organization text collate "C" primary key,
      target text not null,
      closed boolean not null default false,
      progress jsonb not null default '{}'
    )
  `.execute(db);
  await sql`
    create table moving_events (
      organization text collate "C" not null,
      created_at timestamptz(3) not null,
      id uuid not null,
      automation_id uuid not null,
      execution_id text collate "C" not null
    )
  `.execute(db);
  await sql`create index moving_events_of_organization on moving_events (organization)`.execute(db);
}

/**
 * The function of the triggers that a move creates. It refuses the events and dead letters of an
 * organization that is closed here, and notes the keys of events that are stored during the copy.
 * An organization that returns may have left before: only its move may write it then.
 */
async function guardMoves(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function note_moving_organizations() returns trigger language plpgsql
    set search_path from current
    as $$
    declare
      closed_here text;
    begin
      if not exists (select from moved_organizations) then
        return null;
      end if;
      select string_agg(organization, e'\n') into closed_here from moved_organizations
      where closed and organization in (select organization from added)
        and organization is distinct from current_setting('runledger.moving', true);
      if closed_here is not null then
        raise exception 'an organization has left this database' using errcode = 'RL001', detail = closed_here;
      end if;
      if tg_table_name = 'events' then
        insert into moving_events (organization, created_at, id, automation_id, execution_id)
        select organization, created_at, id, automation_id, execution_id from added
        where organization in (select organization from moved_organizations where not closed);
      end if;
      return null;
    end
    $$
  `.execute(db);
}
