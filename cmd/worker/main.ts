import { constants, getPriority, setPriority } from 'node:os';
import { processSettings } from '../../internal/config/process-settings.ts';
import { readConfig } from '../../internal/config/read.ts';
import { ComponentGroup } from '../../internal/kit/lifecycle/group.ts';
import { runMain } from '../../internal/kit/lifecycle/main.ts';
import { runProcess } from '../../internal/kit/lifecycle/run-process.ts';
import { OpsServer } from '../../internal/kit/ops/ops-server.ts';
import { createTelemetry } from '../../internal/kit/telemetry/telemetry.ts';
import { createTracing } from '../../internal/kit/telemetry/create-tracing.ts';
import { databaseSettings, openDatabase } from './database.ts';
import { databasesSettings, openOtherDatabases } from './databases.ts';
import { createWorker, workerSettings } from './worker.ts';

/** Callers and readers wait for ingest and console; nobody waits for a worker. */
const behind = 5;

runMain(async () => {
  setPriority(Math.min(getPriority() + behind, constants.priority.PRIORITY_LOW));
  const config = readConfig([...processSettings, ...workerSettings, ...databaseSettings, ...databasesSettings]);
  const tracing = await createTracing('worker', config);
  const telemetry = { ...createTelemetry('worker', config.LOG_LEVEL, config.METRICS_ORGANIZATIONS), tracing };
  const { logger, probes, registry } = telemetry;
  const ops = new OpsServer(config, probes, registry);
  const worker = createWorker(config, openDatabase(config, logger), telemetry, openOtherDatabases(config, logger));
  await runProcess({
    main: new ComponentGroup('process', [ops, ...(tracing ? [tracing] : []), worker], logger),
    probes,
    logger,
    // No load balancer sends requests to a worker.
    drainDelayMs: 0,
    shutdownTimeoutMs: config.SHUTDOWN_TIMEOUT_MS,
  });
});
