import { createLogger, type Logger } from '../../../internal/kit/telemetry/logger.ts';
import type { Database } from '../../../internal/store/database.ts';
import { isUnavailable } from '../../../internal/store/errors.ts';
import { migrateToLatest } from '../../../internal/store/migrate.ts';
import { firstDatabase } from '../../../internal/store/organizations/organization-map.ts';
import { untilReachable } from '../../../internal/store/reachable.ts';
import type { Run } from '../command.ts';
import { openDatabases } from '../databases.ts';
import type { migrate } from './options.ts';

/** How long it waits for a Postgres that is starting, in ms. */
const waitMs = 120_000;

export const run: Run<typeof migrate> = async (_args, { settings }) => {
  const config = settings();
  const logger = createLogger('migrate', config.LOG_LEVEL);
  await using databases = openDatabases(config, { command: 'migrate', most: 2, logger });
  const { first, all } = databases;
  await migrateOne(first, logger);
  const others = Array.from(all).filter(([name]) => name !== firstDatabase);
  await Promise.all(
    others.map(async ([database, db]) => {
      const log = logger.child({ database });
      await migrateOne(db, log).catch((error: unknown) => {
        // The organizations of the other databases do not wait for an unavailable one.
        const isAway = error instanceof Error && error.cause !== undefined && isUnavailable(error.cause);
        if (!isAway) throw error;
      });
    }),
  );
};

async function migrateOne(db: Database, logger: Logger): Promise<void> {
  try {
    await untilReachable(db, waitMs, (error) => logger.warn({ error }, 'waiting for postgres'));
    const migrations = await migrateToLatest(db, {
      onNoReaderRole: () => logger.warn({ role: 'runledger_reader', see: 'README.md' }, 'no role for readers'),
    });
    logger.info({ migrations }, 'schema is up to date');
  } catch (error) {
    logger.fatal({ error }, 'schema not up to date');
    throw error;
  }
}
