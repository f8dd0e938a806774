import { sql } from 'kysely';
import type { Database } from './database.ts';

/**
 * Runs the work while another connection holds an advisory lock. Resolves with false if another
 * process has it. The lock's transaction is idle meanwhile, so no build of an index waits for it;
 * and a pooler cannot lose it, as it could a lock of a session.
 */
export async function withTurn(db: Database, lock: bigint, work: () => Promise<void>): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);
    const { rows } = await sql<{ locked: boolean }>`
      select pg_try_advisory_xact_lock(${sql.lit(lock)}) as locked
    `.execute(trx);
    if (rows[0]?.locked !== true) return false;
    await work();
    return true;
  });
}
