import { namedUrls } from '../config/named-urls.ts';
import type { Logger } from '../kit/telemetry/logger.ts';
import { openPostgres, type Database, type PostgresOptions } from '../store/database.ts';

/** The settings of the databases of the record. */
export const databaseSettings = ['DATABASE_URL', 'DATABASE_URLS'] as const;

/** How a process uses a database. */
export interface DatabaseUse extends Pick<PostgresOptions, 'statementTimeout' | 'preparesStatements' | 'onOpen'> {
  /** Shown in `pg_stat_activity`, after `runledger-`. */
  readonly process: string;
  readonly connections: number;
  /** It writes nothing that must survive a crash of Postgres. */
  readonly onlyReads?: true;
}

/**
 * Opens a database, which connects on demand, so that a process starts without it. Without a
 * `logger`, the caller reports failures itself.
 */
export function openDatabase(
  url: string,
  { process, connections, onlyReads, ...options }: DatabaseUse,
  logger?: Logger,
): Database {
  return openPostgres({
    ...options,
    url,
    maxConnections: connections,
    applicationName: `runledger-${process}`,
    onIdleError: (error) => logger?.warn({ error }, 'idle postgres connection lost'),
    onNotDurable: (missing) => {
      if (onlyReads !== true) logger?.error({ missing }, 'postgres may lose what it has stored');
    },
  });
}

/** Opens the databases of `DATABASE_URLS`. Log records carry their names. */
export function openOtherDatabases(
  urls: string | undefined,
  use: DatabaseUse,
  logger?: Logger,
): ReadonlyMap<string, Database> {
  const open = ([name, url]: [string, string]) =>
    [name, openDatabase(url, use, logger?.child({ database: name }))] as const;
  return new Map(Array.from(namedUrls(urls), open));
}
