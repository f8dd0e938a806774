import {
  databaseSettings,
  openDatabase,
  openOtherDatabases,
  type DatabaseUse,
} from '../../internal/wiring/databases.ts';
import { defineService } from '../../internal/wiring/service.ts';
import { createWorker, workerSettings } from './worker.ts';

/** The worker repeats a statement that takes longer. */
export const workerDatabase: DatabaseUse = {
  process: 'worker',
  // Two for the batcher's statements, one for maintenance, and one for probes.
  connections: 4,
  statementTimeout: 30_000,
};

export const worker = defineService({
  name: 'worker',
  settings: [...workerSettings, ...databaseSettings],
  drains: false,
  wire: (config, telemetry) => {
    const others = openOtherDatabases(config.DATABASE_URLS, workerDatabase, telemetry.logger);
    return [
      createWorker(config, openDatabase(config.DATABASE_URL, workerDatabase, telemetry.logger), telemetry, others),
    ];
  },
});
