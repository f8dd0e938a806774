import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { advisoryLocks } from './advisory-locks.ts';
import type { Database } from './database.ts';
import { buildIndexes } from './partitions/build-indexes.ts';
import * as baseline from './migrations/0001-baseline.ts';
import { ensureReaderRole } from './reader-role.ts';
import { untilUnlocked } from './until-unlocked.ts';

/** The migrations, in order. Never change a released one; add the next (expand, then contract). */
const migrations = { '0001-baseline': baseline };

export interface MigrateOptions {
  /**
   * Default: true. False for an embedded Postgres with one session: building an index then blocks
   * writers.
   */
  concurrently?: boolean;
  /** Called if queries cannot run as the reader role because this user may not create it. */
  onNoReaderRole?: () => void;
}

/**
 * Migrates the schema in one transaction under a lock, so that several processes may run at once.
 * Then builds missing indexes while workers write. Resolves with the names of the migrations that
 * ran. Rejects and changes nothing when one fails, or when the database is not in UTF-8.
 */
export async function migrateToLatest(db: Database, options: MigrateOptions = {}): Promise<string[]> {
  await requireUtf8(db);
  if (await isAhead(db)) return [];
  const ran = await untilUnlocked(() => runMigrations(db));
  if (!(await untilUnlocked(() => ensureReaderRole(db)))) options.onNoReaderRole?.();
  const { concurrently = true } = options;
  await buildIndexes(db, { concurrently });
  return ran;
}

/** Takes the lock before the migrator creates its own tables: two migrators would collide there. */
function runMigrations(db: Database): Promise<string[]> {
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(advisoryLocks.migration)})`.execute(trx);
    const migrator = new Migrator({ db: trx, provider: { getMigrations: () => Promise.resolve(migrations) } });
    const { error, results = [] } = await migrator.migrateToLatest();
    if (error !== undefined) throw error;
    return results.map(({ migrationName }) => migrationName);
  });
}

/**
 * True after a rollback to this release, when a newer release has migrated further.
 * Expand-then-contract keeps such a schema usable here; the migrator would call it corrupt.
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

/** Other encodings cannot hold every text that ingest accepts; events would become dead letters. */
async function requireUtf8(db: Database): Promise<void> {
  const { rows } = await sql<{ encoding: string }>`select current_setting('server_encoding') as encoding`.execute(db);
  const encoding = rows[0]?.encoding;
  if (encoding !== 'UTF8') throw new Error(`the database must have the encoding UTF8, it has ${encoding}`);
}
