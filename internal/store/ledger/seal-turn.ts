import { sql, type Transaction } from 'kysely';
import { advisoryLocks } from '../advisory-locks.ts';
import type { Database, Tables } from '../database.ts';

/**
 * Runs a step of the sealer in a transaction; resolves with undefined while another worker has the
 * turn. Each statement of the step sees what earlier turns committed.
 */
export function inSealTurn<T>(db: Database, step: (trx: Transaction<Tables>) => Promise<T>): Promise<T | undefined> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ taken: boolean }>`
      select pg_try_advisory_xact_lock(${sql.lit(advisoryLocks.seal)}) as taken
    `.execute(trx);
    return rows[0]?.taken === true ? step(trx) : undefined;
  });
}
