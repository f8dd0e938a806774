import { sql, type Kysely } from 'kysely';
import { createCopy, replaceByCopy } from '../executions-copy.ts';

/**
 * Partitions `executions` by organization, if it has no rows: a new database. Rows of an existing
 * one move while workers write (`internal/store/partition-executions.ts`), not in a transaction.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Writers wait behind this lock: give up early, migrateToLatest tries again.
  await sql`set local lock_timeout = '200ms'`.execute(db);
  await sql`lock table executions in access exclusive mode`.execute(db);
  const { rows } = await sql<{ used: boolean }>`select exists (select from executions) as used`.execute(db);
  if (rows[0]?.used === true) return;
  await createCopy(db);
  await replaceByCopy(db);
}
