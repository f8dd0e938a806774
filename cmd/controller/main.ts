import { processSettings } from '../../internal/config/process-settings.ts';
import { readConfig } from '../../internal/config/read.ts';
import type { Component } from '../../internal/kit/lifecycle/component.ts';
import { component, ComponentGroup } from '../../internal/kit/lifecycle/group.ts';
import { runMain } from '../../internal/kit/lifecycle/main.ts';
import { runProcess } from '../../internal/kit/lifecycle/run-process.ts';
import { OpsServer } from '../../internal/kit/ops/ops-server.ts';
import type { Database } from '../../internal/store/database.ts';
import { createTelemetry } from '../../internal/kit/telemetry/telemetry.ts';
import { createTracing } from '../../internal/kit/telemetry/create-tracing.ts';
import { controllerSettings, createController, type TickedDatabase } from './controller.ts';
import { notifyMetrics, notifyMetricsOf } from '../../internal/kit/telemetry/notify-metrics.ts';
import { controllerDatabaseSettings } from './database.ts';
import { openControllerDatabases } from './databases.ts';
import { declarationSettings } from './declaration-settings.ts';
import { createDeclarationSource, followDeclarations } from './declarations.ts';
import { jobSettings } from './job-settings.ts';
import { createOwnedTokens, ownerSettings } from './tokens.ts';
import { consoleUrl, createNotifier, notifierSettings } from './notifier.ts';

runMain(async () => {
  const config = readConfig([
    ...processSettings,
    ...controllerSettings,
    ...controllerDatabaseSettings,
    ...declarationSettings,
    ...jobSettings,
    ...notifierSettings,
    ...ownerSettings,
  ]);
  const tracing = await createTracing('controller', config);
  const telemetry = { ...createTelemetry('controller', config.LOG_LEVEL, config.METRICS_ORGANIZATIONS), tracing };
  const { logger, probes, registry } = telemetry;
  const ops = new OpsServer(config, probes, registry);
  const databases = openControllerDatabases(config, logger);
  const { db } = databases.all[0];
  const postgres = component('postgres', { stop: () => databases.close() });
  const databaseOf = (organization: string): Database => databases.otherOf(organization) ?? db;
  const source = await createDeclarationSource(config, db, telemetry, databaseOf);
  // BullMQ and the client of Kubernetes are loaded only for it.
  const jobs = config.CAPTURE_JOBS
    ? (await import('./jobs.ts')).createJobCapture(config, db, telemetry, databases.otherOf)
    : undefined;
  const links = consoleUrl();
  const notified = notifyMetrics(registry);
  const notifiers: Component[] = [];
  const ticked = databases.all.map((database): TickedDatabase => {
    const { name, db: own, residents } = database;
    const metrics = notifyMetricsOf(notified, name);
    const notifier = createNotifier(
      config,
      database,
      links,
      (webhook) => source.secretsOf(webhook),
      telemetry,
      metrics,
    );
    notifiers.push(notifier);
    const listeners = [followDeclarations(source, jobs?.capture, residents), notifier];
    if (name === undefined || residents === undefined) return { db: own, listeners };
    return { db: own, listeners, among: { name, prepare: (trx) => residents.prepare(trx) } };
  });
  const sources = [...(databases.map ? [databases.map] : []), source, ...(jobs?.parts ?? []), ...notifiers];
  const controller = createController(
    config,
    { databases: ticked, databaseOf, sources, capture: jobs?.capture, tokens: await createOwnedTokens(config) },
    telemetry,
  );
  await runProcess({
    main: new ComponentGroup('process', [ops, ...(tracing ? [tracing] : []), postgres, controller], logger),
    probes,
    logger,
    // No load balancer sends requests to a controller.
    drainDelayMs: 0,
    shutdownTimeoutMs: config.SHUTDOWN_TIMEOUT_MS,
  });
});
