import type { Config } from '../../internal/config/read.ts';
import { openPostgres, type Database } from '../../internal/store/database.ts';
import type { Logger } from '../../internal/kit/telemetry/logger.ts';

export const databaseSettings = ['DATABASE_URL'] as const;

/** Two statements of the batcher, maintenance, and one for probes. */
const connections = 4;

/** Longest duration of a worker's statement, in ms; the worker then retries it. */
const statementTimeout = 30_000;

/** The worker's Postgres. Connects on demand, so that a worker starts without it. */
export function openDatabase(config: Config<(typeof databaseSettings)[number]>, logger: Logger): Database {
  return openPostgres({
    url: config.DATABASE_URL,
    maxConnections: connections,
    applicationName: 'runledger-worker',
    statementTimeout,
    onIdleError: (error) => logger.warn({ error }, 'idle postgres connection lost'),
    onNotDurable: (missing) => logger.error({ missing }, 'postgres may lose stored events'),
  });
}
