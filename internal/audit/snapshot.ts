import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import type { Reading } from './read-database.ts';

/** Runs work on a connection of its own that sees the same snapshot. */
export type Beside = <T>(work: (trx: Reading) => Promise<T>) => Promise<T>;

/** Reads one snapshot of the database, on several connections. */
export function inSnapshot<T>(db: Database, work: (trx: Reading, beside: Beside) => Promise<T>): Promise<T> {
  const read = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return read.execute(async (trx) => {
    const { rows } = await sql<{ snapshot: string }>`select pg_export_snapshot() as snapshot`.execute(trx);
    const snapshot = rows[0]?.snapshot ?? '';
    return work(trx, (other) =>
      read.execute(async (own) => {
        await sql`set transaction snapshot ${sql.lit(snapshot)}`.execute(own);
        return other(own);
      }),
    );
  });
}
