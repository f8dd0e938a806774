import { namedUrls } from '../../internal/config/named-urls.ts';
import { readConfig } from '../../internal/config/read.ts';
import { runMain } from '../../internal/kit/lifecycle/main.ts';
import { StartError } from '../../internal/kit/lifecycle/run-process.ts';
import { openPostgres } from '../../internal/store/database.ts';
import { isUnavailable } from '../../internal/store/errors.ts';
import { migrateToLatest } from '../../internal/store/migrate.ts';
import { untilReachable } from '../../internal/store/reachable.ts';
import { createLogger, type Logger } from '../../internal/kit/telemetry/logger.ts';

/** How long it waits for a Postgres that starts, in ms. */
const waitMs = 120_000;

runMain(async () => {
  const config = readConfig(['DATABASE_URL', 'DATABASE_URLS', 'LOG_LEVEL']);
  const logger = createLogger('migrate', config.LOG_LEVEL);
  // PID 1 of a container has no default handler. The connection's end rolls the work back.
  process.once('SIGTERM', () => process.exit(143));
  try {
    await migrate(config.DATABASE_URL, logger);
  } catch (error) {
    logger.fatal({ error }, 'schema not up to date');
    throw new StartError(error);
  }
  const others = Array.from(namedUrls(config.DATABASE_URLS), async ([database, url]) => {
    const log = logger.child({ database });
    await migrate(url, log).catch((error: unknown) => {
      log.fatal({ error }, 'schema not up to date');
      // The organizations of the other databases do not wait for an unavailable one.
      const isAway = error instanceof Error && error.cause !== undefined && isUnavailable(error.cause);
      if (!isAway) throw new StartError(error);
    });
  });
  await Promise.all(others);
});

async function migrate(url: string, logger: Logger): Promise<void> {
  const db = openPostgres({
    url,
    maxConnections: 2,
    applicationName: 'runledger-migrate',
    // Another pod's migration may take any time.
    statementTimeout: 0,
    onIdleError: (error) => logger.warn({ error }, 'idle postgres connection lost'),
    onNotDurable: (missing) => logger.error({ missing }, 'postgres may lose stored events'),
  });
  try {
    await untilReachable(db, waitMs, (error) => logger.warn({ error }, 'waiting for postgres'));
    const migrations = await migrateToLatest(db, {
      onNoReaderRole: () =>
        logger.warn({ role: 'runledger_reader', see: 'docs/operate/postgres.md' }, 'no role for readers'),
    });
    logger.info({ migrations }, 'schema is up to date');
  } finally {
    await db.destroy();
  }
}
