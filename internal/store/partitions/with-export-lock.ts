import type { Database } from '../database.ts';
import { sql } from '../sql.ts';
import { takeTurn } from '../with-turn.ts';

/** Another export writes to the same place. */
export class ExportUnderWay extends Error {
  override readonly name = 'ExportUnderWay';
}

/**
 * Runs an export unless another one writes to the same place. The lock belongs to a transaction
 * that stays open and idle meanwhile: this works behind a pooler and delays no vacuum.
 * @throws {ExportUnderWay}
 */
export function withExportLock<T>(db: Database, where: string, work: () => Promise<T>): Promise<T> {
  const lock = sql`hashtextextended(${`runledger export ${where}`}, 0)`;
  return db.transaction().execute(async (trx) => {
    if (!(await takeTurn(trx, lock))) throw new ExportUnderWay(`another export writes to ${where}`);
    return work();
  });
}
