import { isGiven, readConfig, type Config } from '../../internal/config/read.ts';
import { openPostgres, type Database, type PoolCounters } from '../../internal/store/database.ts';
import type { Logger } from '../../internal/telemetry/logger.ts';

export const consoleDatabaseSettings = ['CONSOLE_DATABASE_CONNECTIONS', 'READ_STATEMENT_TIMEOUT_MS'] as const;

/** The database of a console. */
export interface ConsoleDatabase {
  db: Database;
  /** Absent for an embedded database, which has one connection. */
  pool?: PoolCounters | undefined;
}

/** The address in `CONSOLE_DATABASE_URL`, else in `DATABASE_URL`. @throws {ConfigError} */
export function consoleDatabaseUrl(environment?: NodeJS.ProcessEnv): string {
  const name = isGiven('CONSOLE_DATABASE_URL', environment) ? 'CONSOLE_DATABASE_URL' : 'DATABASE_URL';
  return String(readConfig([name], environment)[name]);
}

/** The console's Postgres. Connects on demand, so that a console starts without it. */
export function openConsoleDatabase(
  url: string,
  config: Config<(typeof consoleDatabaseSettings)[number]>,
  logger: Logger,
): ConsoleDatabase {
  let pool: PoolCounters | undefined;
  const db = openPostgres({
    url,
    maxConnections: config.CONSOLE_DATABASE_CONNECTIONS,
    applicationName: 'runledger-console',
    statementTimeout: config.READ_STATEMENT_TIMEOUT_MS,
    preparesStatements: false,
    onIdleError: (error) => logger.warn({ error }, 'idle postgres connection lost'),
    // The console writes nothing.
    onNotDurable: () => undefined,
    onOpen: (counters) => {
      pool = counters;
    },
  });
  return { db, pool };
}
