import { readConfig } from '../../internal/config/read.ts';
import { runMain } from '../../internal/lifecycle/main.ts';
import { openPostgres } from '../../internal/store/database.ts';
import { migrateToLatest } from '../../internal/store/migrate.ts';
import { createLogger } from '../../internal/telemetry/logger.ts';

runMain(async () => {
  const config = readConfig(['DATABASE_URL', 'LOG_LEVEL']);
  const logger = createLogger('migrate', config.LOG_LEVEL);
  const db = openPostgres({
    url: config.DATABASE_URL,
    maxConnections: 2,
    applicationName: 'runledger-migrate',
    // Waiting for another pod's migration may take as long as that takes.
    statementTimeout: 0,
    onIdleError: (error) => logger.warn({ error }, 'idle postgres connection lost'),
  });
  try {
    const migrations = await migrateToLatest(db);
    logger.info({ migrations }, 'schema is up to date');
  } finally {
    await db.destroy();
  }
});
