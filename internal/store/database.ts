import { Kysely, PostgresDialect } from 'kysely';
import { Pool, type ClientBase } from 'pg';
import { PreparedStatementPool } from './prepared-statement-pool.ts';
import type { DeadLettersTable } from './dead-letters-table.ts';
import type { EventsTable } from './events-table.ts';
import type { ExecutionsTable } from './executions-table.ts';
import { prepareSession } from './session.ts';

/** The schema, as queries see it. */
export interface Tables {
  events: EventsTable;
  executions: ExecutionsTable;
  dead_letters: DeadLettersTable;
}

/** An open database. `destroy` closes its connections. */
export type Database = Kysely<Tables>;

export interface PostgresOptions {
  url: string;
  maxConnections: number;
  /**
   * Longest that one statement may take, in ms; 0 for no limit. Postgres ends it then, or the
   * connection is given up.
   */
  statementTimeout: number;
  /** Shown in `pg_stat_activity`. */
  applicationName: string;
  /** Errors of idle connections end up here; the pool replaces the connection by itself. */
  onIdleError: (error: Error) => void;
  /**
   * Told once, when the server is found to lose commits in a crash: a sentence for each setting
   * that makes it.
   */
  onNotDurable: (missing: string[]) => void;
}

/** Opens a pool; connections are made when they are needed. */
export function openPostgres(options: PostgresOptions): Database {
  let told = false;
  // A connection that cannot be prepared is not used.
  const onConnect = async (client: ClientBase): Promise<void> => {
    const missing = await prepareSession(client, options.statementTimeout);
    if (missing.length > 0 && !told) options.onNotDurable(missing);
    told = missing.length > 0;
  };
  const pool = new Pool({
    connectionString: options.url,
    max: options.maxConnections,
    application_name: options.applicationName,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    ...(options.statementTimeout > 0 && { query_timeout: options.statementTimeout + 5_000 }),
    // The pool awaits it, whatever its types say.
    // oxlint-disable-next-line typescript/no-misused-promises
    onConnect,
  });
  pool.on('error', options.onIdleError);
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: new PreparedStatementPool(pool) }) });
}
