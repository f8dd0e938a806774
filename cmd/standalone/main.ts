import { processSettings } from '../../internal/config/process-settings.ts';
import { readConfig } from '../../internal/config/read.ts';
import { ComponentGroup } from '../../internal/kit/lifecycle/group.ts';
import { runMain } from '../../internal/kit/lifecycle/main.ts';
import { runProcess } from '../../internal/kit/lifecycle/run-process.ts';
import { createTelemetry } from '../../internal/kit/telemetry/telemetry.ts';
import { createTracing } from '../../internal/kit/telemetry/create-tracing.ts';
import { drainDelayOf } from '../../internal/wiring/service.ts';
import { banner } from './banner.ts';
import { createDataFolder } from './data-folder.ts';
import { Standalone } from './standalone.ts';

/** On a laptop: no load balancer to wait for, output for a person, no port open to the network. */
const defaults = { DRAIN_DELAY_MS: '0', LOG_LEVEL: 'warn', LISTEN_ADDRESS: '127.0.0.1' };

runMain(async () => {
  const config = readConfig(['DATA_DIR', ...processSettings], undefined, defaults);
  const drainDelayMs = drainDelayOf(undefined, defaults);
  const tracing = await createTracing('standalone', config);
  const telemetry = { ...createTelemetry('standalone', config.LOG_LEVEL, config.METRICS_ORGANIZATIONS), tracing };
  const folder = await createDataFolder(config.DATA_DIR);
  const standalone = new Standalone(folder, config, telemetry);
  await runProcess({
    main: tracing ? new ComponentGroup('process', [tracing, standalone], telemetry.logger) : standalone,
    probes: telemetry.probes,
    logger: telemetry.logger,
    drainDelayMs,
    shutdownTimeoutMs: config.SHUTDOWN_TIMEOUT_MS,
    onReady: () => process.stdout.write(banner(folder, standalone.addresses, config.LISTEN_ADDRESS)),
  });
});
