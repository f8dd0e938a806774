import type { Config } from '../../internal/config/read.ts';
import { namedUrls } from '../../internal/config/named-urls.ts';
import { firstDatabase } from '../../internal/store/organizations/organization-map.ts';
import type { Database } from '../../internal/store/database.ts';
import type { Logger } from '../../internal/kit/telemetry/logger.ts';
import { openDatabase, type databaseSettings } from './database.ts';

/** The settings of the databases of a worker. */
export const databasesSettings = ['DATABASE_URLS'] as const;

/** The databases of `DATABASE_URLS`, by name. Connects on demand. */
export function openOtherDatabases(
  config: Config<(typeof databaseSettings)[number] | (typeof databasesSettings)[number]>,
  logger: Logger,
): ReadonlyMap<string, Database> {
  const urls = namedUrls(config.DATABASE_URLS);
  return new Map(
    Array.from(urls, ([name, url]) => [
      name,
      openDatabase({ ...config, DATABASE_URL: url }, logger.child({ database: name })),
    ]),
  );
}

/** All of them by the names of their databases, the first one first. */
export function allOf<T>(first: T, others: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  return new Map([[firstDatabase, first], ...others]);
}
