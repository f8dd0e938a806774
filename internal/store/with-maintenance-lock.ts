import { sql, type Transaction } from 'kysely';
import type { Database, Tables } from './database.ts';
import { listPartitions, type Partition } from './partitions.ts';

/** One at a time in the whole cluster. The number is Runledger's own. */
const maintenanceLock = 7_215_004_112;

/**
 * Runs a step of the maintenance under its lock, in a transaction of its own, with the partitions
 * that are there once the lock is held. Rejects when a table stays locked by others for two
 * seconds: behind the step, writers would wait too.
 */
export function withMaintenanceLock<T>(
  db: Database,
  step: (trx: Transaction<Tables>, present: Partition[]) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(maintenanceLock)})`.execute(trx);
    await sql`set local lock_timeout = '2s'`.execute(trx);
    return step(trx, await listPartitions(trx));
  });
}
