import { Migrator } from 'kysely/migration';
import type { Database } from './database.ts';
import * as initial from './migrations/0001-initial.ts';
import * as runningExecutions from './migrations/0002-running-executions.ts';

/** In order. Never change one that has been released: add the next (expand, then contract). */
const migrations = { '0001-initial': initial, '0002-running-executions': runningExecutions };

/**
 * Brings the schema up to date, in one transaction under a lock: any number of processes may do it at once.
 * Resolves with the names of the migrations it ran. Rejects when one fails; nothing of it stays then.
 */
export async function migrateToLatest(db: Database): Promise<string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  return results.map(({ migrationName }) => migrationName);
}
