import { sql, type Kysely } from 'kysely';

/** What owners do in the console (docs/manage/tokens.md). Nothing in these tables opens anything. */
export async function createOwners(db: Kysely<unknown>): Promise<void> {
  await createTokens(db);
  await createTokenRequests(db);
}

/** What is known of tokens beside their Secrets, which decide whether they are in force. */
async function createTokens(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table tokens (
      organization text collate "C" not null,
      digest text collate "C" not null,
      name text not null,
      kind text not null check (kind in ('write', 'read', 'ping')),
      last_four text not null,
      made_by text not null,
      made_at timestamptz(3) not null default now(),
      expires_at timestamptz(3),
      primary key (organization, digest)
    )
  `.execute(db);
  await sql`create index tokens_expiring on tokens (expires_at) where expires_at is not null`.execute(db);
  await sql`
    create table token_uses (
      token_id text collate "C" primary key,
      used_on date not null
    )
  `.execute(db);
}

/**
 * Requests of owners to the controller, which proves each by its id token and then forgets that.
 * `token_keeper` has one row: the controller whose turn it is, and why it cannot write tokens.
 */
async function createTokenRequests(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table token_requests (
      id uuid primary key,
      organization text collate "C" not null,
      act text not null check (act in ('issue', 'expire', 'revoke')),
      digest text collate "C" not null check (digest ~ '^[0-9a-f]{64}$'),
      name text not null default '',
      kind text not null default 'write' check (kind in ('write', 'read', 'ping')),
      last_four text not null default '',
      expires_at timestamptz(3),
      id_token text,
      requested_at timestamptz(3) not null default now(),
      done_at timestamptz(3),
      error text
    )
  `.execute(db);
  await sql`create index token_requests_open on token_requests (requested_at) where done_at is null`.execute(db);
  await sql`create index token_requests_newest on token_requests (organization, requested_at)`.execute(db);
  await sql`
    create table token_keeper (
      id boolean primary key default true check (id),
      holder uuid,
      until timestamptz(3),
      problem text
    )
  `.execute(db);
  await sql`insert into token_keeper default values`.execute(db);
}
