import { setFlagsFromString } from 'node:v8';
import { processSettings, requireTimeToStop } from '../../internal/config/process-settings.ts';
import { readConfig } from '../../internal/config/read.ts';
import { ComponentGroup } from '../../internal/kit/lifecycle/group.ts';
import { runMain } from '../../internal/kit/lifecycle/main.ts';
import { runProcess } from '../../internal/kit/lifecycle/run-process.ts';
import { OpsServer } from '../../internal/kit/ops/ops-server.ts';
import { createTelemetry } from '../../internal/kit/telemetry/telemetry.ts';
import { createTracing } from '../../internal/kit/telemetry/create-tracing.ts';
import { createIngest, ingestSettings } from './ingest.ts';
import { createTokenSource, tokenSettings } from '../../internal/wiring/tokens.ts';

runMain(async () => {
  const config = readConfig([...processSettings, ...ingestSettings, ...tokenSettings]);
  requireTimeToStop(config);
  collectLessOften();
  const tracing = await createTracing('ingest', config);
  const telemetry = { ...createTelemetry('ingest', config.LOG_LEVEL, config.METRICS_ORGANIZATIONS), tracing };
  const { logger, probes, registry } = telemetry;
  const ops = new OpsServer(config, probes, registry);
  const ingest = createIngest(config, createTokenSource(config, telemetry), telemetry);
  await runProcess({
    main: new ComponentGroup('process', [ops, ...(tracing ? [tracing] : []), ingest.component], logger),
    probes,
    logger,
    drainDelayMs: config.DRAIN_DELAY_MS,
    shutdownTimeoutMs: config.SHUTDOWN_TIMEOUT_MS,
  });
});

/**
 * Lets the heap become 2.5 times what lives in it before all of it is collected. V8 counts the
 * bytes of bodies, too: large ones made it do so three to five times a second, and each time the
 * event loop stood still for 5 to 40 ms.
 */
function collectLessOften(): void {
  setFlagsFromString('--heap-growing-percent=150');
}
