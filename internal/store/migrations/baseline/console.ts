import { sql, type Kysely } from 'kysely';
import { showToReaders } from './show-to-readers.ts';

/** Sessions of the console, its keys, and the log of who looked at which organization. */
export async function createConsole(db: Kysely<unknown>): Promise<void> {
  await createSessions(db);
  await createAccessLog(db);
  await createKeys(db);
}

/**
 * A copy of this table opens no session: it holds only digests of the browsers' ids, and id tokens
 * sealed with those ids.
 */
async function createSessions(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table sessions (
      digest bytea primary key,
      subject text not null,
      name text not null,
      groups text[] not null,
      token_digest text,
      organization text collate "C",
      id_token text,
      created_at timestamptz(3) not null default now(),
      seen_at timestamptz(3) not null default now(),
      expires_at timestamptz(3) not null
    )
  `.execute(db);
  await sql`create index sessions_of_subject on sessions (subject)`.execute(db);
}

/**
 * An entry stands for `requests` of one person; its organization is empty where nobody has logged
 * in. The log is append-only, even for the owner of the tables: changing it means dropping or
 * disabling a trigger first, which Postgres logs as a schema change.
 */
async function createAccessLog(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table access_log (
      organization text collate "C" not null,
      at timestamptz(3) not null,
      id bigint generated always as identity,
      subject text not null,
      name text not null,
      action text not null check (action in ('looked', 'exported', 'tested', 'logged out', 'refused',
        'issued', 'rotated', 'revoked', 'named', 'muted', 'unmuted', 'acknowledged', 'closed', 'noted')),
      detail text not null default '',
      address text not null default '',
      requests integer not null default 1,
      primary key (organization, at, id)
    )
  `.execute(db);
  await showToReaders(db, 'access_log');
  await sql`
    create function refuse_change() returns trigger language plpgsql as $$
    begin
      raise exception 'the table % only grows', tg_table_name using errcode = 'insufficient_privilege';
    end
    $$
  `.execute(db);
  await sql`
    create trigger access_log_only_grows before update or delete or truncate on access_log
    for each statement execute function refuse_change()
  `.execute(db);
}

/**
 * The keys that all consoles of a database share to seal login cookies and stream ids.
 * `gen_random_uuid` reads the system's secure source, and four UUIDs hold 488 random bits.
 */
async function createKeys(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table console_keys (
      name text primary key,
      key bytea not null
    )
  `.execute(db);
  await sql`
    insert into console_keys (name, key)
    select name, sha256(concat(gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid())::bytea)
    from unnest(array['login', 'stream']) as name
  `.execute(db);
}
