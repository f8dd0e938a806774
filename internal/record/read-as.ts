import type { Database, Tables } from '../store/database.ts';
import { sql, type Kysely, type RawBuilder } from '../store/sql.ts';
import { withRole } from './role-of-queries.ts';

/** The database as the queries of one organization see it. */
export type Reading = Kysely<Tables>;

/**
 * Runs queries of one organization, each in its own read-only transaction with {@link settingsOf},
 * in one round trip. The one session of an embedded database runs all of them in one transaction.
 */
export function readAs<T>(db: Database, organization: string, work: (reading: Reading) => Promise<T>): Promise<T> {
  return withRole(db, (role) => {
    const settings = settingsOf(db, organization, role);
    if (db.withSettings !== undefined) {
      const { sql: text, parameters } = settings.compile(db);
      return work(db.withSettings({ text, values: parameters.map(String) }));
    }
    return db.transaction().execute(async (trx) => {
      await settings.execute(trx);
      return work(trx);
    });
  });
}

/**
 * The settings of a read-only transaction as `runledger_reader`. Postgres plans each query for its
 * values, since only then does it skip partitions of other days. It uses one core and no JIT
 * compilation, which would take longer than the query. Days are in UTC. Each transaction sets all
 * this, because a pooler may give it any session.
 */
function settingsOf({ statementTimeout }: Database, organization: string, role: string): RawBuilder<unknown> {
  const timeout = statementTimeout === undefined ? sql`current_setting('statement_timeout')` : String(statementTimeout);
  return sql`
    select set_config('transaction_read_only', 'on', true), set_config('statement_timeout', ${timeout}, true),
      set_config('TimeZone', 'UTC', true), set_config('DateStyle', 'ISO', true),
      set_config('role', ${role}, true), set_config('runledger.organization', ${organization}, true),
      set_config('plan_cache_mode', 'force_custom_plan', true),
      set_config('max_parallel_workers_per_gather', '0', true), set_config('jit', 'off', true)
  `;
}
