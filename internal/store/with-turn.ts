import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { Database, Tables } from './database.ts';

/**
 * Runs the work while another connection holds an advisory lock. Resolves with false if another
 * process has the lock. The lock's transaction is idle, so no index build waits for it, and a
 * pooler cannot lose it as it could a session lock.
 */
export async function withTurn(db: Database, lock: bigint, work: () => Promise<void>): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    if (!(await takeTurn(trx, sql.lit(lock)))) return false;
    await work();
    return true;
  });
}

/**
 * Takes an advisory lock until the end of the transaction, and lifts its idle time-out. Resolves
 * with false if another process has the lock.
 */
export async function takeTurn(trx: Transaction<Tables>, lock: RawBuilder<unknown>): Promise<boolean> {
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);
  const { rows } = await sql<{ taken: boolean }>`select pg_try_advisory_xact_lock(${lock}) as taken`.execute(trx);
  return rows[0]?.taken === true;
}
