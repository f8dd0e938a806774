import { readConfig } from '../../internal/config/read.ts';
import { runMain } from '../../internal/lifecycle/main.ts';
import { StartError } from '../../internal/lifecycle/run-process.ts';
import { openPostgres } from '../../internal/store/database.ts';
import { migrateToLatest } from '../../internal/store/migrate.ts';
import { untilReachable } from '../../internal/store/reachable.ts';
import { createLogger } from '../../internal/telemetry/logger.ts';
import { partitioningOf } from './partitioning.ts';

runMain(async () => {
  const config = readConfig(['DATABASE_URL', 'DATABASE_WAIT_MS', 'PARTITION_EXECUTIONS', 'LOG_LEVEL']);
  const logger = createLogger('migrate', config.LOG_LEVEL);
  const db = openPostgres({
    url: config.DATABASE_URL,
    maxConnections: 2,
    applicationName: 'runledger-migrate',
    // Another pod's migration may take any time.
    statementTimeout: 0,
    onIdleError: (error) => logger.warn({ error }, 'idle postgres connection lost'),
    onNotDurable: (missing) => logger.error({ missing }, 'postgres may lose stored events'),
  });
  // PID 1 of a container has no default handler. The connection's end rolls the work back.
  process.once('SIGTERM', () => process.exit(143));
  try {
    await untilReachable(db, config.DATABASE_WAIT_MS, (error) => logger.warn({ error }, 'waiting for postgres'));
    const migrations = await migrateToLatest(db, {
      onNoReaderRole: () => logger.warn({ role: 'runledger_reader', see: 'README.md' }, 'no role for readers'),
      partitioning: partitioningOf(config.PARTITION_EXECUTIONS, logger),
    });
    logger.info({ migrations }, 'schema is up to date');
  } catch (error) {
    logger.fatal({ error }, 'schema not up to date');
    throw new StartError(error);
  } finally {
    await db.destroy();
  }
});
