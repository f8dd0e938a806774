import type { Database } from './database.ts';
import { sql } from './sql.ts';

/** Another export writes to the same place. */
export class ExportUnderWay extends Error {
  override readonly name = 'ExportUnderWay';
}

/**
 * Runs an export, unless another one writes to the same place. The lock belongs to a transaction
 * that stays open meanwhile, idle: it works behind a pooler too, and delays no vacuum.
 * @throws {ExportUnderWay}
 */
export function withExportLock<T>(db: Database, where: string, work: () => Promise<T>): Promise<T> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ taken: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended(${`runledger export ${where}`}, 0)) as taken
    `.execute(trx);
    if (rows[0]?.taken !== true) throw new ExportUnderWay(`another export writes to ${where}`);
    return work();
  });
}
