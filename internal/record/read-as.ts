import type { Database, Tables } from '../store/database.ts';
import { sql, type Transaction } from '../store/sql.ts';

export type Reading = Transaction<Tables>;

/**
 * The role of every query, if the database has it and this user may take it; otherwise Postgres'
 * `none`. Postgres 16 tells the right to take a role from membership.
 */
const readerRole = sql<string>`coalesce((
  select rolname from pg_roles where rolname = 'runledger_reader'
    and pg_has_role(oid, case when current_setting('server_version_num')::integer < 160000 then 'MEMBER' else 'SET' end)
), 'none')`;

/**
 * Runs queries in a read-only transaction, as the role `runledger_reader`, for which row-level
 * security shows one organization only. Plans are made for the values at hand: only then does
 * Postgres skip the partitions of other days. A query uses one core,
 * and is not compiled: that takes longer than the query.
 */
export function readAs<T>(db: Database, organization: string, work: (trx: Reading) => Promise<T>): Promise<T> {
  return db
    .transaction()
    .setAccessMode('read only')
    .execute(async (trx) => {
      await sql`
        select set_config('role', ${readerRole}, true), set_config('runledger.organization', ${organization}, true),
          set_config('plan_cache_mode', 'force_custom_plan', true),
          set_config('max_parallel_workers_per_gather', '0', true), set_config('jit', 'off', true)
      `.execute(trx);
      return work(trx);
    });
}

/** True if queries run as `runledger_reader`. */
export async function usesReaderRole(db: Database): Promise<boolean> {
  const { rows } = await sql<{ role: string }>`select ${readerRole} as role`.execute(db);
  return rows[0]?.role === 'runledger_reader';
}
