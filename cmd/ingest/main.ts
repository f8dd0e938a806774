import { setFlagsFromString } from 'node:v8';
import { processSettings, requireTimeToStop } from '../../internal/config/process-settings.ts';
import { readConfig } from '../../internal/config/read.ts';
import { ComponentGroup } from '../../internal/lifecycle/group.ts';
import { runMain } from '../../internal/lifecycle/main.ts';
import { runProcess } from '../../internal/lifecycle/run-process.ts';
import { OpsServer } from '../../internal/ops/ops-server.ts';
import { createTelemetry } from '../../internal/telemetry/telemetry.ts';
import { createTracing } from '../../internal/telemetry/tracing.ts';
import { createIngest, ingestSettings } from './ingest.ts';
import { createTokenSource, tokenSettings } from './tokens.ts';

/**
 * Under load most of what a request makes outlives a scavenge. V8 would conclude that it belongs into the old generation
 * from the start, where each piece keeps its whole request until a full garbage collection: twice the heap.
 */
const keepRequestsYoung = '--no-allocation-site-pretenuring';

/**
 * The old generation is collected when it has grown by a fifth, not to several times what is in use: with 8 MB for the
 * young 152 MB resident in a burst instead of 214 to 220, at no more CPU time (test/bench/README.md).
 */
const keepHeapSmall = '--heap-growing-percent=20';

/**
 * The young generation is collected when it is full. V8 would do so from a task of its own when four fifths are: a quarter more
 * scavenges (test/bench/README.md).
 */
const fillYoungGeneration = '--no-minor-gc-task';

runMain(async () => {
  for (const flag of [keepRequestsYoung, keepHeapSmall, fillYoungGeneration]) setFlagsFromString(flag);
  const config = readConfig([...processSettings, ...ingestSettings, ...tokenSettings]);
  requireTimeToStop(config);
  const tracing = await createTracing('ingest', config);
  const telemetry = { ...createTelemetry('ingest', config.LOG_LEVEL, config.METRICS_ORGANIZATIONS), tracing };
  const { logger, probes, registry } = telemetry;
  const ops = new OpsServer(config.OPS_PORT, probes, registry);
  const ingest = createIngest(config, createTokenSource(config, telemetry), telemetry);
  await runProcess({
    main: new ComponentGroup('process', [ops, ...(tracing ? [tracing] : []), ingest.component], logger),
    probes,
    logger,
    drainDelayMs: config.DRAIN_DELAY_MS,
    shutdownTimeoutMs: config.SHUTDOWN_TIMEOUT_MS,
  });
});
