import { sql, type Kysely } from 'kysely';

/**
 * The map of organizations to databases, which is authoritative in the first one; the state of
 * moves, in each database that organizations leave; and people's approvals of a retention run that
 * would drop many partitions at once.
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
      approved_by text not null default session_user,
      primary key (before, approved_at, approved_by)
    )
  `.execute(db);
}

async function createMoves(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table moved_organizations (
      organization text collate "C" primary key,
      target text not null,
      under_way boolean not null default false,
      closed boolean not null default false,
      copied boolean not null default false
    )
  `.execute(db);
}

/**
 * The function of the triggers that a move creates: it refuses rows of an organization that is
 * closed here. Statement triggers do not fire for replicated rows. It has its owner's rights: a
 * console in runledger_reader may not read which organizations have moved.
 */
async function guardMoves(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function refuse_moved_organizations() returns trigger language plpgsql security definer
    set search_path from current
    as $$
    declare
      closed_here text;
    begin
      if not exists (select from moved_organizations) then
        return null;
      end if;
      select string_agg(organization, e'\n') into closed_here from moved_organizations
      where closed and organization in (select organization from added);
      if closed_here is not null then
        raise exception 'an organization has left this database' using errcode = 'RL001', detail = closed_here;
      end if;
      return null;
    end
    $$
  `.execute(db);
}
