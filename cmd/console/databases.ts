import { namedUrls } from '../../internal/config/named-urls.ts';
import { ConfigError, type Config } from '../../internal/config/read.ts';
import type { Logger } from '../../internal/kit/telemetry/logger.ts';
import {
  openConsoleDatabase,
  openWrittenDatabase,
  type consoleDatabaseSettings,
  type OtherDatabase,
} from './database.ts';

/** The settings of the databases besides the first one. */
export const consoleDatabasesSettings = ['DATABASE_URLS', 'CONSOLE_DATABASE_URLS'] as const;

/**
 * The databases of `DATABASE_URLS`, by name. The console reads a replica if `CONSOLE_DATABASE_URLS`
 * names one.
 * @throws {ConfigError} for a replica of an unknown database.
 */
export function openOtherConsoleDatabases(
  config: Config<(typeof consoleDatabaseSettings)[number] | (typeof consoleDatabasesSettings)[number]>,
  logger: Logger,
): ReadonlyMap<string, OtherDatabase> {
  const urls = namedUrls(config.DATABASE_URLS);
  const replicas = namedUrls(config.CONSOLE_DATABASE_URLS);
  for (const name of replicas.keys()) {
    if (!urls.has(name)) throw new ConfigError(`CONSOLE_DATABASE_URLS names ${name}, which DATABASE_URLS does not`);
  }
  return new Map(
    Array.from(urls, ([name, url]) => {
      const replica = replicas.get(name);
      const database = openConsoleDatabase(replica ?? url, config, logger.child({ database: name }));
      const written = replica === undefined ? database.db : openWrittenDatabase(url, config, logger);
      return [name, { db: database.db, pool: database.pool, written }];
    }),
  );
}

/** Closes the connections to these databases. */
export async function closeOtherConsoleDatabases(others: ReadonlyMap<string, OtherDatabase>): Promise<void> {
  const open = new Set([...others.values()].flatMap(({ db, written }) => [db, written]));
  await Promise.all(Array.from(open, (db) => db.destroy()));
}
