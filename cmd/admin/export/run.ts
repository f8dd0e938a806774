import { ConfigError, type Config } from '../../../internal/config/read.ts';
import { readClock } from '../../../internal/store/clock.ts';
import type { Database } from '../../../internal/store/database.ts';
import { organizationsWithLog } from '../../../internal/store/ledger/organizations-with-log.ts';
import { firstDatabase, readPlaces } from '../../../internal/store/organizations/organization-map.ts';
import { dayOf, daysBefore } from '../../../internal/store/partitions/days.ts';
import { packDays } from '../../../internal/store/partitions/pack-days.ts';
import { macKeysOf } from '../../../internal/ledger/mac.ts';
import { UsageError, type Context, type Run } from '../command.ts';
import { openDatabases, type Databases } from '../databases.ts';
import type { databaseSettings } from '../databases-settings.ts';
import { noDestination, readOptions, type exportOptions, type Options } from './options.ts';
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
  if (config.HOT_DAYS > 0 && place !== '-') await packAll(config, options, context);
};

/** Packs the indexes of the days that are due and stay hot: that may take hours. */
async function packAll(
  config: Config<(typeof databaseSettings)[number] | 'HOT_DAYS'>,
  { settleHours }: Options,
  { signal, say }: Pick<Context, 'signal' | 'say'>,
): Promise<void> {
  await using databases = openDatabases(config, { command: 'export', most: 2 });
  for (const db of databases.all.values()) {
    const { now } = await readClock(db);
    const hot = { from: daysBefore(dayOf(now), config.HOT_DAYS), to: dayOf(now - settleHours * 3_600_000) };
    const tables = await packDays(db, hot, signal);
    if (tables.length > 0) say(`packed the indexes of ${tables.join(', ')}`);
  }
}

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
