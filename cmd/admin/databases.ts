import { s3Credentials } from '../../internal/config/credentials.ts';
import type { Config } from '../../internal/config/read.ts';
import type { Logger } from '../../internal/kit/telemetry/logger.ts';
import type { Database } from '../../internal/store/database.ts';
import { openDatabase, openOtherDatabases } from '../../internal/wiring/databases.ts';
import { ArchiveReader } from '../../internal/record/archive/archive-reader.ts';
import type { databaseSettings } from './databases-settings.ts';
import { firstDatabase, readPlaces } from '../../internal/store/organizations/organization-map.ts';

/** How a command uses each database. */
export interface Connections {
  readonly command: string;
  readonly most: number;
  /** Longest duration of a statement, in ms. Default: no limit. */
  readonly statementTimeout?: number;
  /** Where the days are that only the archive has; reads of them fail without it. */
  readonly archive?: string | undefined;
  /** For a command that runs unattended; others report failures themselves. */
  readonly logger?: Logger;
}

/** The databases of the record. Disposal closes their connections. */
export interface Databases extends AsyncDisposable {
  readonly first: Database;
  /** By name, the first one first. */
  readonly all: ReadonlyMap<string, Database>;
  /** The name of the database that has an organization, by the map in the first one. */
  readonly nameOf: (organization: string) => Promise<string>;
  /** The database itself. @throws when DATABASE_URLS does not name it. */
  readonly databaseOf: (organization: string) => Promise<Database>;
}

/** Opens the databases, which connect on demand. */
export function openDatabases(
  { DATABASE_URL: url, DATABASE_URLS: urls }: Config<(typeof databaseSettings)[number]>,
  { command, most: connections, statementTimeout = 0, archive: place, logger }: Connections,
): Databases {
  const use = { process: command, connections, statementTimeout, preparesStatements: false };
  const first = openDatabase(url, use, logger);
  const all = new Map([[firstDatabase, first], ...openOtherDatabases(urls, use, logger)]);
  const archive = place === undefined ? undefined : new ArchiveReader(place, s3Credentials());
  for (const db of all.values()) archive?.of(db);
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
      await Promise.all([...Array.from(all.values(), (db) => db.destroy()), archive?.close()]);
    },
  };
}
