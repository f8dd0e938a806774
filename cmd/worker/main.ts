import { setFlagsFromString } from 'node:v8';
import { processSettings } from '../../internal/config/process-settings.ts';
import { readConfig } from '../../internal/config/read.ts';
import { ComponentGroup } from '../../internal/lifecycle/group.ts';
import { runMain } from '../../internal/lifecycle/main.ts';
import { runProcess } from '../../internal/lifecycle/run-process.ts';
import { OpsServer } from '../../internal/ops/ops-server.ts';
import { createTelemetry } from '../../internal/telemetry/telemetry.ts';
import { createTracing } from '../../internal/telemetry/tracing.ts';
import { databaseSettings, openDatabase } from './database.ts';
import { createWorker, workerSettings } from './worker.ts';

/**
 * The old generation is collected when it is three times what is in use. Left alone, V8 does so at half load when it has grown by
 * 7 MB, every other second, and whoever wants a core meanwhile waits; and at full speed not before it is about four
 * times what is in use (test/bench/README.md).
 */
const oldGenerationMayTriple = '--heap-growing-percent=200';

runMain(async () => {
  setFlagsFromString(oldGenerationMayTriple);
  const config = readConfig([...processSettings, ...workerSettings, ...databaseSettings]);
  const tracing = await createTracing('worker', config);
  const telemetry = { ...createTelemetry('worker', config.LOG_LEVEL, config.METRICS_ORGANIZATIONS), tracing };
  const { logger, probes, registry } = telemetry;
  const ops = new OpsServer(config.OPS_PORT, probes, registry);
  const worker = createWorker(config, openDatabase(config, logger), telemetry);
  await runProcess({
    main: new ComponentGroup('process', [ops, ...(tracing ? [tracing] : []), worker], logger),
    probes,
    logger,
    // Nobody sends requests to a worker: there is no load balancer to wait for.
    drainDelayMs: 0,
    shutdownTimeoutMs: config.SHUTDOWN_TIMEOUT_MS,
  });
});
