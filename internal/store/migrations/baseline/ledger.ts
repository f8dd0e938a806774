import { sql, type Kysely } from 'kysely';
import { showToReaders } from './show-to-readers.ts';

/**
 * The Merkle log (docs/design/log.md). Workers append leaves to `log_segments`; the sealer
 * moves them, in the order of their index, to `log_tails` and, once there are 256, to `log_tiles`.
 * A leaf gets a place only if its segment has a valid MAC; the others stay there, `refused`.
 */
export async function createLedger(db: Kysely<unknown>): Promise<void> {
  await createLeaves(db);
  await createTrees(db);
  await createErasures(db);
  await createActs(db);
  await showToReaders(db, 'log_segments', 'log_tails', 'log_tiles', 'log_trees', 'log_checkpoints', 'log_acts');
}

/**
 * Level 0 of the tiles holds leaves (`packTile`), the others hold hashes. The index finds the tiles
 * that may hold an event. Hashes do not compress, and `external` avoids the attempt.
 */
async function createLeaves(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table log_segments (
      id bigint generated always as identity,
      organization text collate "C" not null,
      leaves bytea not null,
      mac bytea,
      refused boolean not null default false,
      primary key (organization, id)
    )
  `.execute(db);
  await sql`create index log_segments_oldest on log_segments (id)`.execute(db);
  await sql`
    create table log_tails (
      organization text collate "C" not null,
      first_index bigint not null,
      leaves bytea not null,
      primary key (organization, first_index)
    )
  `.execute(db);
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
  await sql`alter table log_segments alter column leaves set storage external`.execute(db);
  await sql`alter table log_tails alter column leaves set storage external`.execute(db);
  await sql`alter table log_tiles alter column content set storage external`.execute(db);
}

/**
 * One row for each log, `refused` if no sealer made its `mac`, and its newest checkpoint of each
 * hour. `cosigned_by`: the witnesses whose
 * lines are in `note`. `published_…`: the newest checkpoint that enough witnesses have cosigned,
 * which may be older.
 */
async function createTrees(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table log_trees (
      organization text collate "C" primary key,
      size bigint not null,
      frontier bytea not null,
      mac bytea,
      refused boolean not null default false
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
      cosigned_by text[] not null default '{}',
      published_size bigint,
      published_note text,
      primary key (organization, hour)
    ) with (fillfactor = 50)
  `.execute(db);
}

/** Who erased which events, and why. Of its events a row has only the ids, 16 bytes each. */
async function createErasures(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table erasures (
      id uuid not null,
      organization text collate "C" not null,
      erased_at timestamptz(3) not null,
      erased_by text not null,
      reason text not null,
      scope text not null check (scope in ('organization', 'automation', 'execution', 'text')),
      automation_id uuid,
      event_ids bytea not null,
      primary key (organization, id)
    )
  `.execute(db);
  await sql`alter table erasures alter column event_ids set storage external`.execute(db);
}

/** The texts of acts whose leaves are in the log, as canonical JSON. */
async function createActs(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table log_acts (
      organization text collate "C" not null,
      id uuid not null,
      act text not null,
      primary key (organization, id)
    )
  `.execute(db);
}
