import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import type { Database } from './database.ts';
import * as initial from './migrations/0001-initial.ts';

/** In order. Never change one that has been released: add the next (expand, then contract). */
const migrations = { '0001-initial': initial };

/**
 * Brings the schema up to date, in one transaction under a lock: any number of processes may do it at once.
 * Resolves with the names of the migrations it ran. Rejects when one fails; nothing of it stays then. Or when the
 * database is not in UTF-8.
 */
export async function migrateToLatest(db: Database): Promise<string[]> {
  await requireUtf8(db);
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  return results.map(({ migrationName }) => migrationName);
}

/** Another encoding cannot hold every text that ingest accepts: events would end as dead letters. */
async function requireUtf8(db: Database): Promise<void> {
  const { rows } = await sql<{ encoding: string }>`select current_setting('server_encoding') as encoding`.execute(db);
  const encoding = rows[0]?.encoding;
  if (encoding !== 'UTF8') throw new Error(`the database must have the encoding UTF8, it has ${encoding}`);
}
