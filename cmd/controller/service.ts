import type { Component } from '../../internal/kit/lifecycle/component.ts';
import { component } from '../../internal/kit/lifecycle/group.ts';
import type { Database } from '../../internal/store/database.ts';
import { databaseSettings } from '../../internal/wiring/databases.ts';
import { defineService } from '../../internal/wiring/service.ts';
import { controllerSettings, createController, type TickedDatabase } from './controller.ts';
import { notifyMetrics, notifyMetricsOf } from '../../internal/controller/notify/notify-metrics.ts';
import { openControllerDatabases } from './databases.ts';
import { declarationSettings } from './declaration-settings.ts';
import { createDeclarationSource, followDeclarations } from './declarations.ts';
import { jobSettings } from './job-settings.ts';
import { createOwnedTokens, ownerSettings } from './tokens.ts';
import { consoleUrl, createNotifier, notifierSettings } from './notifier.ts';

export const controller = defineService({
  name: 'controller',
  settings: [
    ...controllerSettings,
    ...databaseSettings,
    ...declarationSettings,
    ...jobSettings,
    ...notifierSettings,
    ...ownerSettings,
  ],
  optional: ['CONSOLE_PUBLIC_URL'],
  drains: false,
  async wire(config, telemetry) {
    const databases = openControllerDatabases(config, telemetry.logger);
    const { db } = databases.all[0];
    const postgres = component('postgres', { stop: () => databases.close() });
    const databaseOf = (organization: string): Database => databases.otherOf(organization) ?? db;
    const source = await createDeclarationSource(config, db, telemetry, databaseOf);
    // Loads BullMQ and the Kubernetes client only for the capture.
    const jobs = config.CAPTURE_JOBS
      ? (await import('./jobs.ts')).createJobCapture(config, db, telemetry, databases.otherOf)
      : undefined;
    const links = consoleUrl();
    const notified = notifyMetrics(telemetry.registry);
    const notifiers: Component[] = [];
    const ticked = databases.all.map((database): TickedDatabase => {
      const { name, db: own, residents } = database;
      const metrics = notifyMetricsOf(notified, name);
      const notifier = createNotifier(
        config,
        database,
        links,
        (channel) => source.secretsOf(channel),
        telemetry,
        metrics,
      );
      notifiers.push(notifier);
      const listeners = [followDeclarations(source, jobs?.capture, residents), notifier];
      if (name === undefined || residents === undefined) return { db: own, listeners };
      return { db: own, listeners, among: { name, prepare: (trx) => residents.prepare(trx) } };
    });
    const sources = [...(databases.map ? [databases.map] : []), source, ...(jobs?.parts ?? []), ...notifiers];
    const ticks = createController(
      config,
      { databases: ticked, databaseOf, sources, capture: jobs?.capture, tokens: await createOwnedTokens(config) },
      telemetry,
    );
    return [postgres, ticks];
  },
});
