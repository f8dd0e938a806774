import type { Database } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';
import type { Reading } from './read-database.ts';

/** Runs work on its own connection, which sees the same snapshot. */
export type Beside = <T>(work: (trx: Reading) => Promise<T>) => Promise<T>;

/** The settings of a transaction. They take no snapshot, so the transaction can import one. */
const settings = ['statement_timeout = 0', 'datestyle = iso'];

/**
 * Reads one snapshot of the database on several connections. Each part has its own transaction, so
 * a failed part stops no other. Later queries of an older snapshot would lack a partition that
 * retention detached; `events` is locked first, and retention waits.
 */
export function inSnapshot<T>(db: Database, work: (beside: Beside) => Promise<T>): Promise<T> {
  const begin = <R>(inside: (trx: Reading) => Promise<R>, locks = ''): Promise<R> =>
    db
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(async (trx) => {
        for (const setting of settings) await sql`set local ${sql.raw(setting)}`.execute(trx);
        // No function or operator of another schema takes the place of one of Postgres.
        const { rows: paths } = await sql<{ search_path: string }>`show search_path`.execute(trx);
        const path = paths[0]?.search_path ?? '';
        await sql`set local search_path = pg_catalog, ${sql.raw(path === '' ? 'public' : path)}`.execute(trx);
        if (locks !== '') await sql`lock table ${sql.table(locks)} in access share mode`.execute(trx);
        return inside(trx);
      });
  return begin(async (trx) => {
    const { rows } = await sql<{ snapshot: string }>`select pg_export_snapshot() as snapshot`.execute(trx);
    const snapshot = sql.lit(rows[0]?.snapshot ?? '');
    return work((part) =>
      begin(async (own) => {
        await sql`set transaction snapshot ${snapshot}`.execute(own);
        return part(own);
      }),
    );
  }, 'events');
}
