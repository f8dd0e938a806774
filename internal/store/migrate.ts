import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import type { Database } from './database.ts';
import * as initial from './migrations/0001-initial.ts';

/** In order. Never change one that has been released: add the next (expand, then contract). */
const migrations = { '0001-initial': initial };

/**
 * Brings the schema up to date, in one transaction under a lock: any number of processes may do it
 * at once. Resolves with the names of the migrations it ran, none when a newer release has run
 * more. Rejects when one fails; nothing of it stays then. Or when the database is not in UTF-8.
 */
export async function migrateToLatest(db: Database): Promise<string[]> {
  await requireUtf8(db);
  if (await isAhead(db)) return [];
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  return results.map(({ migrationName }) => migrationName);
}

/**
 * True after a rollback to this release: a newer one has brought the schema further.
 * Expand-then-contract migrations leave it fit for this release too, and the migrator would call it
 * corrupt.
 */
async function isAhead(db: Database): Promise<boolean> {
  const { rows } = await sql<{ present: boolean }>`
    select to_regclass('kysely_migration') is not null as present
  `.execute(db);
  if (rows[0]?.present !== true) return false;
  const executed = (await sql<{ name: string }>`select name from kysely_migration`.execute(db)).rows;
  const names = new Set(executed.map(({ name }) => name));
  return Object.keys(migrations).every((name) => names.has(name)) && names.size > Object.keys(migrations).length;
}

/**
 * Another encoding cannot hold every text that ingest accepts: events would end as dead letters.
 */
async function requireUtf8(db: Database): Promise<void> {
  const { rows } = await sql<{ encoding: string }>`select current_setting('server_encoding') as encoding`.execute(db);
  const encoding = rows[0]?.encoding;
  if (encoding !== 'UTF8') throw new Error(`the database must have the encoding UTF8, it has ${encoding}`);
}
