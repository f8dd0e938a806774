import { processSettings } from '../../internal/config/process-settings.ts';
import { readConfig } from '../../internal/config/read.ts';
import { component, ComponentGroup } from '../../internal/lifecycle/group.ts';
import { runMain } from '../../internal/lifecycle/main.ts';
import { runProcess } from '../../internal/lifecycle/run-process.ts';
import { OpsServer } from '../../internal/ops/ops-server.ts';
import { createTelemetry } from '../../internal/telemetry/telemetry.ts';
import { createTracing } from '../../internal/telemetry/create-tracing.ts';
import { controllerSettings, createController } from './controller.ts';
import { controllerDatabaseSettings, openControllerDatabase } from './database.ts';
import { declarationSettings } from './declaration-settings.ts';
import { createDeclarationSource, followDeclarations } from './declarations.ts';
import { jobSettings } from './job-settings.ts';
import { consoleUrl, createNotifier, notifierSettings } from './notifier.ts';

runMain(async () => {
  const config = readConfig([
    ...processSettings,
    ...controllerSettings,
    ...controllerDatabaseSettings,
    ...declarationSettings,
    ...jobSettings,
    ...notifierSettings,
  ]);
  const tracing = await createTracing('controller', config);
  const telemetry = { ...createTelemetry('controller', config.LOG_LEVEL, config.METRICS_ORGANIZATIONS), tracing };
  const { logger, probes, registry } = telemetry;
  const ops = new OpsServer(config, probes, registry);
  const db = openControllerDatabase(config.DATABASE_URL, logger);
  const postgres = component('postgres', { stop: () => db.destroy() });
  const source = await createDeclarationSource(config, db, telemetry);
  const notifier = createNotifier(config, db, consoleUrl(), (webhook) => source.secretsOf(webhook), telemetry);
  // BullMQ and the client of Kubernetes are loaded only for it.
  const jobs = config.CAPTURE_JOBS ? (await import('./jobs.ts')).createJobCapture(config, db, telemetry) : undefined;
  const listeners = [followDeclarations(source, jobs?.capture), notifier];
  const sources = [source, ...(jobs?.parts ?? []), notifier];
  const controller = createController(config, { db, sources, listeners, capture: jobs?.capture }, telemetry);
  await runProcess({
    main: new ComponentGroup('process', [ops, ...(tracing ? [tracing] : []), postgres, controller], logger),
    probes,
    logger,
    // No load balancer sends requests to a controller.
    drainDelayMs: 0,
    shutdownTimeoutMs: config.SHUTDOWN_TIMEOUT_MS,
  });
});
