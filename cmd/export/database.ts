import { openPostgres, type Database } from '../../internal/store/database.ts';

/** Longest duration of a statement, in ms: each reads one page, or one slice of a day. */
const statementTimeout = 60_000;

/** The Postgres that is exported. One connection holds the lock of the export. */
export function openDatabase(url: string): Database {
  const ignore = (): void => undefined;
  return openPostgres({
    url,
    maxConnections: 3,
    applicationName: 'runledger-export',
    statementTimeout,
    preparesStatements: false,
    onIdleError: ignore,
    onNotDurable: ignore,
  });
}
