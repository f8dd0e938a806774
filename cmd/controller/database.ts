import { openPostgres, type Database } from '../../internal/store/database.ts';
import type { Logger } from '../../internal/kit/telemetry/logger.ts';

export const controllerDatabaseSettings = ['DATABASE_URL', 'DATABASE_URLS'] as const;

/** Longest duration of a statement of the controller, in ms; the next tick then tries again. */
const statementTimeout = 30_000;

/** The controller's Postgres. Connects on demand, so that a controller starts without it. */
export function openControllerDatabase(url: string, logger: Logger): Database {
  return openPostgres({
    url,
    maxConnections: 5,
    applicationName: 'runledger-controller',
    statementTimeout,
    // Its statements are rare, and a tick plans each one for its values.
    preparesStatements: false,
    onIdleError: (error) => logger.warn({ error }, 'idle postgres connection lost'),
    onNotDurable: (missing) => logger.error({ missing }, 'postgres may lose stored alerts'),
  });
}
