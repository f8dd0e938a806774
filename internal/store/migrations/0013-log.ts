import { sql, type Kysely } from 'kysely';

/**
 * The Merkle log (ARCHITECTURE.md, "The log"). Workers append leaves to `log_segments`; the sealer
 * moves them, in the order of their index, to `log_tails` and, once there are 256, to `log_tiles`.
 * Hashes do not compress: `external` saves the attempt.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table log_segments (
      id bigint generated always as identity primary key,
      organization text collate "C" not null,
      leaves bytea not null
    )
  `.execute(db);
  await sql`
    create table log_tails (
      organization text collate "C" not null,
      first_index bigint not null,
      leaves bytea not null,
      primary key (organization, first_index)
    )
  `.execute(db);
  await createTiles(db);
  await createTrees(db);
  for (const table of ['log_segments', 'log_tails', 'log_tiles']) {
    const column = sql.ref(table === 'log_tiles' ? 'content' : 'leaves');
    await sql`alter table ${sql.table(table)} alter column ${column} set storage external`.execute(db);
  }
  for (const table of ['log_tails', 'log_tiles', 'log_trees', 'log_checkpoints']) await showToReaders(db, table);
}

/**
 * Level 0 holds leaves, the others hold hashes. The index finds the tiles that may hold an event.
 */
async function createTiles(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table log_tiles (
      organization text collate "C" not null,
      level smallint not null,
      index bigint not null,
      content bytea not null,
      first_id uuid,
      last_id uuid,
      primary key (organization, level, index)
    )
  `.execute(db);
  await sql`
    create index log_tiles_of_ids on log_tiles (organization, last_id, first_id) where level = 0
  `.execute(db);
}

/** One row for each log, and its newest checkpoint of each hour. */
async function createTrees(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table log_trees (
      organization text collate "C" primary key,
      size bigint not null,
      frontier bytea not null,
      began_at timestamptz(3) not null default now(),
      sealed_until_at timestamptz(3),
      sealed_until_id uuid,
      complete_at timestamptz(3)
    ) with (fillfactor = 50)
  `.execute(db);
  await sql`
    create table log_checkpoints (
      organization text collate "C" not null,
      hour timestamptz(0) not null,
      size bigint not null,
      root bytea not null,
      note text not null,
      signed_at timestamptz(3) not null,
      primary key (organization, hour)
    ) with (fillfactor = 50)
  `.execute(db);
}

/** Readers of `executions` may read the table; `internal/store/reader-role.ts` limits them. */
async function showToReaders(db: Kysely<unknown>, table: string): Promise<void> {
  await sql`alter table ${sql.table(table)} enable row level security`.execute(db);
  await sql`create policy everybody on ${sql.table(table)} using (true) with check (true)`.execute(db);
  await sql`
    do $$
    declare
      reader text;
    begin
      for reader in
        select case grantee when 0 then 'public' else grantee::regrole::text end
        from pg_class, aclexplode(relacl) where oid = 'executions'::regclass and privilege_type = 'SELECT'
      loop
        execute format('grant select on %I to %s', ${sql.lit(table)}, reader);
      end loop;
    end
    $$
  `.execute(db);
}
