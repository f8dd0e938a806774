import { ConfigError } from '../../../internal/config/read.ts';
import type { Database } from '../../../internal/store/database.ts';
import { organizationsWithLog } from '../../../internal/store/ledger/organizations-with-log.ts';
import { firstDatabase, readPlaces } from '../../../internal/store/organizations/organization-map.ts';
import { macKeysOf } from '../../../internal/ledger/mac.ts';
import { UsageError, type Run } from '../command.ts';
import { openDatabases, type Databases } from '../databases.ts';
import { noDestination, readOptions, type exportOptions } from './options.ts';
import { exportToOutput } from './to-output.ts';
import { exportToPlace, type Source } from './to-place.ts';

/** Longest duration of a statement, in ms: each reads one page, or one slice of a day. */
const statementTimeout = 60_000;

export const run: Run<typeof exportOptions> = async (args, context) => {
  const options = readOptions(args, context.taken);
  const config = context.settings();
  const place = options.destination ?? config.ARCHIVE_URL;
  if (place === undefined) throw new UsageError(noDestination);
  // One of the connections holds the lock of the export.
  await using databases = openDatabases(config, {
    command: 'export',
    most: 3,
    statementTimeout,
    archive: config.ARCHIVE_URL,
  });
  const sources = await sourcesOf(databases);
  const [macKey] = macKeysOf(config);
  if (config.HOT_DAYS > 0 && macKey === undefined) await requireNoLog(sources);
  const [organization] = options.organizations;
  const sentence =
    place === '-' && organization !== undefined
      ? await exportToOutput(await databases.databaseOf(organization), organization, options, context)
      : await exportToPlace(place, sources, options, {
          ...context,
          keptDays: [config.RETENTION_DAYS, config.HOT_DAYS].filter((days) => days > 0),
          macKey,
        });
  context.say(sentence);
};

/** @throws if an organization has a log: its days stay in Postgres until that knows the export. */
async function requireNoLog(sources: readonly Source[]): Promise<void> {
  for (const { db, has } of sources) {
    const organization = (await organizationsWithLog(db)).find(has);
    if (organization === undefined) continue;
    throw new ConfigError(`${organization} has a log: with HOT_DAYS, set LEDGER_MAC_KEY, so that it knows the export`);
  }
}

/**
 * The databases to export from. After a move, an organization is exported from the database where
 * it is, not from the rows that it left behind.
 * @throws when an organization is in a database that `DATABASE_URLS` does not name.
 */
async function sourcesOf({ first, all }: Databases): Promise<readonly Source[]> {
  const places = await readPlaces(first);
  for (const [organization, { database }] of places) {
    if (!all.has(database)) throw new Error(`DATABASE_URLS lacks the database ${database}, where ${organization} is`);
  }
  const has = (name: string) => (id: string) => (places.get(id)?.database ?? firstDatabase) === name;
  return Array.from(all, ([name, db]: [string, Database]) => ({ name, db, has: has(name) }));
}
