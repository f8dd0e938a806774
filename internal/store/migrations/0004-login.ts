import { sql, type Kysely } from 'kysely';

/** Sessions of the web console, and the log of who looked at which organization. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createSessions(db);
  await createAccessLog(db);
}

/** A copy of this table opens no session: it holds digests of the ids that browsers have. */
async function createSessions(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table sessions (
      digest bytea primary key,
      subject text not null,
      name text not null,
      groups text[] not null,
      token_digest text,
      organization text collate "C",
      created_at timestamptz(3) not null default now(),
      seen_at timestamptz(3) not null default now(),
      expires_at timestamptz(3) not null
    )
  `.execute(db);
  await sql`create index sessions_of_subject on sessions (subject)`.execute(db);
}

async function createAccessLog(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table access_log (
      organization text collate "C" not null,
      at timestamptz(3) not null,
      id bigint generated always as identity,
      subject text not null,
      name text not null,
      action text not null check (action in ('looked', 'exported')),
      primary key (organization, at, id)
    )
  `.execute(db);
}
