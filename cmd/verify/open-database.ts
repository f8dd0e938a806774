import { CannotCheck } from '../../internal/record/audit/finding.ts';
import { namedUrls } from '../../internal/config/named-urls.ts';
import type { Config } from '../../internal/config/read.ts';
import { firstDatabase, readPlaces } from '../../internal/store/organizations/organization-map.ts';
import { openPostgres, type Database } from '../../internal/store/database.ts';

/** Where the record is. */
export const verifySettings = ['DATABASE_URL', 'DATABASE_URLS'] as const;

/**
 * Opens the database that has an organization, by the map in the first one.
 * @throws {CannotCheck} when DATABASE_URLS does not name it.
 */
export async function openDatabaseOf(
  organization: string,
  { DATABASE_URL: url, DATABASE_URLS: urls }: Config<(typeof verifySettings)[number]>,
): Promise<Database> {
  const name = await nameOf(organization, url);
  if (name === firstDatabase) return openDatabase(url);
  const other = namedUrls(urls).get(name);
  if (other !== undefined) return openDatabase(other);
  throw new CannotCheck(`${organization} is in the database ${name}, which DATABASE_URLS does not name.`);
}

async function nameOf(organization: string, url: string): Promise<string> {
  await using first = openDatabase(url);
  return (await readPlaces(first)).get(organization)?.database ?? firstDatabase;
}

/** A connection for the snapshot, and one for each part that is checked beside the others. */
function openDatabase(url: string): Database {
  const ignore = (): void => undefined;
  return openPostgres({
    url,
    // One part needs two: a part that waited for a connection would hold another.
    maxConnections: 6,
    statementTimeout: 0,
    preparesStatements: false,
    applicationName: 'runledger-verify',
    onIdleError: ignore,
    onNotDurable: ignore,
  });
}
