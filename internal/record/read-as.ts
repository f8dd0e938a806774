import type { Database, Tables } from '../store/database.ts';
import { readerRole, readerRoleIsComplete } from '../store/reader-role.ts';
import { sql, type Transaction } from '../store/sql.ts';

export type Reading = Transaction<Tables>;

/** The role of every query, if it is complete and this user may take it; otherwise `none`. */
const roleOfQueries = sql<string>`case when ${readerRoleIsComplete} then ${sql.lit(readerRole)} else 'none' end`;

/**
 * Runs queries in a read-only transaction, as the role `runledger_reader`, for which row-level
 * security shows one organization only. Postgres plans each query for its values: only then does it
 * skip the partitions of other days. A query uses one core, without JIT compilation, which takes
 * longer than the query. Days are days in UTC. The transaction sets all this itself, because a
 * pooler may give it a session with other settings.
 */
export function readAs<T>(db: Database, organization: string, work: (trx: Reading) => Promise<T>): Promise<T> {
  const { statementTimeout } = db;
  const timeout = statementTimeout === undefined ? sql`current_setting('statement_timeout')` : String(statementTimeout);
  return db
    .transaction()
    .setAccessMode('read only')
    .execute(async (trx) => {
      await sql`
        select set_config('statement_timeout', ${timeout}, true), set_config('TimeZone', 'UTC', true),
          set_config('DateStyle', 'ISO', true),
          set_config('role', ${roleOfQueries}, true), set_config('runledger.organization', ${organization}, true),
          set_config('plan_cache_mode', 'force_custom_plan', true),
          set_config('max_parallel_workers_per_gather', '0', true), set_config('jit', 'off', true)
      `.execute(trx);
      return work(trx);
    });
}

/** True if queries run as `runledger_reader`. */
export async function usesReaderRole(db: Database): Promise<boolean> {
  const { rows } = await sql<{ complete: boolean }>`select ${readerRoleIsComplete} as complete`.execute(db);
  return rows[0]?.complete ?? false;
}
