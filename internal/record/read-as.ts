import type { Database, Tables } from '../store/database.ts';
import { sql, type Kysely } from '../store/sql.ts';
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
    if (db.inTransactions !== undefined) return work(db.inTransactions(settings));
    return db.transaction().execute(async (trx) => {
      for (const text of settings) await sql.raw(text).execute(trx);
      return work(trx);
    });
  });
}

/**
 * The settings of a read-only transaction as `runledger_reader`. Postgres plans each query for its
 * values, since only then does it skip partitions of other days. It uses one core and no JIT
 * compilation, which would take longer than the query. Days are in UTC. Each transaction sets all
 * this, because a pooler may give it any session. Only `set local` reaches the nodes of a
 * distributed Postgres, so the two settings of row-level security are set that way.
 */
function settingsOf({ statementTimeout }: Database, organization: string, role: string): string[] {
  const timeout = statementTimeout === undefined ? `current_setting('statement_timeout')` : `'${statementTimeout}'`;
  return [
    `select set_config('transaction_read_only', 'on', true), set_config('statement_timeout', ${timeout}, true),
      set_config('TimeZone', 'UTC', true), set_config('DateStyle', 'ISO', true),
      set_config('plan_cache_mode', 'force_custom_plan', true),
      set_config('max_parallel_workers_per_gather', '0', true), set_config('jit', 'off', true)`,
    `set local role ${role}`,
    `set local runledger.organization = ${literalOf(organization)}`,
  ];
}

/** A literal of SQL, in which no character is left that could end it. `set` takes no parameters. */
function literalOf(text: string): string {
  const escaped = text.replaceAll(/[^\w.-]/gu, (each) => {
    const point = each.codePointAt(0) ?? 0;
    return `\\+${point.toString(16).padStart(6, '0')}`;
  });
  return `U&'${escaped}'`;
}
