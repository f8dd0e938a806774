import { namedUrls } from '../../internal/config/named-urls.ts';
import type { Config } from '../../internal/config/read.ts';
import type { Logger } from '../../internal/kit/telemetry/logger.ts';
import { openPostgres, type Database } from '../../internal/store/database.ts';
import type { databaseSettings } from './databases-settings.ts';
import { firstDatabase, readPlaces } from '../../internal/store/organizations/organization-map.ts';

/** How a command uses each database. */
export interface Connections {
  readonly command: string;
  readonly most: number;
  /** Longest duration of a statement, in ms; no limit unless given. */
  readonly statementTimeout?: number;
  /** Of a command that runs unattended; others say what fails themselves. */
  readonly logger?: Logger;
}

/** The databases of the record; the end closes their connections. */
export interface Databases extends AsyncDisposable {
  readonly first: Database;
  /** By name, the first one first. */
  readonly all: ReadonlyMap<string, Database>;
  /** The name of the database that has an organization, by the map in the first one. */
  readonly nameOf: (organization: string) => Promise<string>;
  /** The database itself. @throws when DATABASE_URLS does not name it. */
  readonly databaseOf: (organization: string) => Promise<Database>;
}

/** Opens them. Each connects when it is used. */
export function openDatabases(
  { DATABASE_URL: url, DATABASE_URLS: urls }: Config<(typeof databaseSettings)[number]>,
  connections: Connections,
): Databases {
  const first = openOne(firstDatabase, url, connections);
  const others = Array.from(namedUrls(urls), ([name, other]) => [name, openOne(name, other, connections)] as const);
  const all = new Map([[firstDatabase, first], ...others]);
  const nameOf = async (organization: string): Promise<string> =>
    (await readPlaces(first)).get(organization)?.database ?? firstDatabase;
  return {
    first,
    all,
    nameOf,
    databaseOf: async (organization) => {
      const name = await nameOf(organization);
      const found = all.get(name);
      if (found !== undefined) return found;
      throw new Error(`${organization} is in the database ${name}, which DATABASE_URLS does not name`);
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(Array.from(all.values(), (db) => db.destroy()));
    },
  };
}

function openOne(
  database: string,
  url: string,
  { command, most, statementTimeout = 0, logger }: Connections,
): Database {
  return openPostgres({
    url,
    maxConnections: most,
    statementTimeout,
    preparesStatements: false,
    applicationName: `runledger-${command}`,
    onIdleError: (error) => logger?.warn({ error, database }, 'idle postgres connection lost'),
    onNotDurable: (missing) => logger?.error({ missing, database }, 'postgres may lose what it has stored'),
  });
}
