import { sql, type Transaction } from 'kysely';
import { advisoryLocks } from '../advisory-locks.ts';
import type { Database, Tables } from '../database.ts';
import { listPartitions, type Partition } from './partitions.ts';

/**
 * Runs a step in a transaction under the maintenance lock, and gives it the present partitions.
 * Rejects when a table stays locked for two seconds, because writers would wait behind the step.
 */
export function withMaintenanceLock<T>(
  db: Database,
  step: (trx: Transaction<Tables>, present: Partition[]) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async (trx) => {
    await waitForMaintenance(trx);
    await sql`set local lock_timeout = '2s'`.execute(trx);
    return step(trx, await listPartitions(trx));
  });
}

/**
 * Waits for the step that is under way. Until the end of the transaction no other one runs, and so
 * no compaction.
 */
export async function waitForMaintenance(trx: Transaction<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(advisoryLocks.maintenance)})`.execute(trx);
}
