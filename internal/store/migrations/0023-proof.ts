import { sql, type Kysely } from 'kysely';

/**
 * What proves an event beside its leaf (ARCHITECTURE.md, "The log"): `salt` belongs to its texts
 * and goes with them; `texts_digest` is what an erasure leaves of them. A leaf gets a place only if
 * its segment has a MAC; `refused` are those without. `log_acts` has the texts of acts whose leaves
 * are in the log.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table events add column salt bytea, add column texts_digest bytea`.execute(db);
  await sql`
    alter table log_segments add column mac bytea, add column refused boolean not null default false
  `.execute(db);
  await sql`
    create table log_acts (
      organization text collate "C" not null,
      id uuid not null,
      act text not null,
      primary key (organization, id)
    )
  `.execute(db);
  await sql`
    alter table log_trees
      drop column began_at, drop column sealed_until_at, drop column sealed_until_id, drop column complete_at
  `.execute(db);
}
