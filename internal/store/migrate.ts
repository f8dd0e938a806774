import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { advisoryLocks } from './advisory-locks.ts';
import type { Database } from './database.ts';
import { buildIndexes } from './build-indexes.ts';
import * as initial from './migrations/0001-initial.ts';
import * as read from './migrations/0002-read.ts';
import * as runningExecutions from './migrations/0003-running-executions.ts';
import * as login from './migrations/0004-login.ts';
import * as expectations from './migrations/0006-expectations.ts';
import * as accessLogOnlyGrows from './migrations/0007-access-log-only-grows.ts';
import * as occurredAt from './migrations/0008-occurred-at.ts';
import * as deliveriesOfWebhook from './migrations/0009-deliveries-of-webhook.ts';
import * as capturedJobs from './migrations/0010-captured-jobs.ts';
import * as executionsBehind from './migrations/0011-executions-behind.ts';
import * as partitionedExecutions from './migrations/0012-partitioned-executions.ts';
import { partitionExecutions, type PartitionOptions } from './partition-executions.ts';
import * as log from './migrations/0013-log.ts';
import * as erasures from './migrations/0014-erasures.ts';
import * as cosignatures from './migrations/0015-cosignatures.ts';
import * as databases from './migrations/0016-databases.ts';
import * as toldAlerts from './migrations/0017-told-alerts.ts';
import * as notifications from './migrations/0018-notifications.ts';
import * as rulesAndLostRuns from './migrations/0019-rules-and-lost-runs.ts';
import * as retentionApprovals from './migrations/0020-retention-approvals.ts';
import * as consoleKeys from './migrations/0021-console-keys.ts';
import * as proof from './migrations/0023-proof.ts';
import * as publishedCheckpoints from './migrations/0027-published-checkpoints.ts';
import { ensureReaderRole } from './reader-role.ts';
import { untilUnlocked } from './until-unlocked.ts';

/** The migrations, in order. Never change a released one; add the next (expand, then contract). */
const migrations = {
  '0001-initial': initial,
  '0002-read': read,
  '0003-running-executions': runningExecutions,
  '0004-login': login,
  '0006-expectations': expectations,
  '0007-access-log-only-grows': accessLogOnlyGrows,
  '0008-occurred-at': occurredAt,
  '0009-deliveries-of-webhook': deliveriesOfWebhook,
  '0010-captured-jobs': capturedJobs,
  '0011-executions-behind': executionsBehind,
  '0012-partitioned-executions': partitionedExecutions,
  '0013-log': log,
  '0014-erasures': erasures,
  '0015-cosignatures': cosignatures,
  '0016-databases': databases,
  '0017-told-alerts': toldAlerts,
  '0018-notifications': notifications,
  '0019-rules-and-lost-runs': rulesAndLostRuns,
  '0020-retention-approvals': retentionApprovals,
  '0021-console-keys': consoleKeys,
  '0023-proof': proof,
  '0027-published-checkpoints': publishedCheckpoints,
};

export interface MigrateOptions {
  /**
   * False for an embedded Postgres with one session: then building an index blocks writers.
   * Default: true.
   */
  concurrently?: boolean;
  /** Called if queries cannot run as the reader role, because this user may not create it. */
  onNoReaderRole?: () => void;
  /** How `executions` moves into partitions. `mostBytes` is 1 GB if absent. */
  partitioning?: Partial<Omit<PartitionOptions, 'concurrently'>>;
}

/** So much moves within a minute or two, in bytes: a start of a worker can wait for it. */
const movedUnasked = 2 ** 30;

/**
 * Migrates the schema in one transaction under a lock, so that several processes may run at once;
 * then builds missing indexes, fills new tables and moves executions into partitions, while workers
 * write. Resolves with the names of the migrations that ran. Rejects when one fails, and changes
 * nothing; also when the database is not in UTF-8.
 */
export async function migrateToLatest(db: Database, options: MigrateOptions = {}): Promise<string[]> {
  await requireUtf8(db);
  if (await isAhead(db)) return [];
  const ran = await untilUnlocked(() => runMigrations(db));
  if (!(await untilUnlocked(() => ensureReaderRole(db)))) options.onNoReaderRole?.();
  const { concurrently = true, partitioning } = options;
  await buildIndexes(db, { concurrently });
  await partitionExecutions(db, { mostBytes: movedUnasked, ...partitioning, concurrently });
  return ran;
}

/** Takes the lock before the migrator creates its own tables: two of them would collide. */
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

/**
 * Another encoding cannot hold every text that ingest accepts; events would become dead letters.
 */
async function requireUtf8(db: Database): Promise<void> {
  const { rows } = await sql<{ encoding: string }>`select current_setting('server_encoding') as encoding`.execute(db);
  const encoding = rows[0]?.encoding;
  if (encoding !== 'UTF8') throw new Error(`the database must have the encoding UTF8, it has ${encoding}`);
}
