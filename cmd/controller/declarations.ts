import type { DeclarationSource } from '../../internal/automations/declarations.ts';
import { TableSync } from '../../internal/automations/table-sync.ts';
import { withDefaults } from '../../internal/capture/default-declarations.ts';
import type { JobCapture } from '../../internal/capture/job-capture.ts';
import type { Database } from '../../internal/store/database.ts';
import { automationMetrics } from '../../internal/telemetry/automation-metrics.ts';
import type { Telemetry } from '../../internal/telemetry/telemetry.ts';
import type { TickListener } from '../../internal/verdicts/tick-listener.ts';
import type { DeclarationConfig } from './declaration-settings.ts';

/**
 * Declarations from `AUTOMATIONS_FILE` if it is set, else from the resources of the cluster. Only
 * the code of one of them is loaded.
 */
export async function createDeclarationSource(
  config: DeclarationConfig,
  db: Database,
  { logger, registry, probes }: Telemetry,
): Promise<DeclarationSource> {
  const metrics = automationMetrics(registry);
  const { AUTOMATIONS_FILE: path } = config;
  const source =
    path === undefined
      ? (await import('./cluster-declarations.ts')).createClusterSource(config, { db, logger, metrics })
      : new (await import('./file-declarations.ts')).FileDeclarationSource({ path, logger, metrics });
  probes.ready.set('automations', () => source.unready());
  return source;
}

/**
 * Brings the tables up to date at each tick, and then shows the verdicts in the resources. Captured
 * CronJobs declare the automations that nothing else declares.
 */
export function followDeclarations(
  source: Pick<DeclarationSource, 'current' | 'afterTick'>,
  cronJobs?: Pick<JobCapture, 'declarations'>,
): TickListener {
  const tables = new TableSync();
  return {
    async recordTransitions() {},
    async recordTick(trx) {
      const declarations = source.current();
      const defaults = cronJobs === undefined ? [] : cronJobs.declarations();
      if (declarations === undefined || defaults === undefined) return;
      const all = defaults.length === 0 ? declarations : withDefaults(declarations, defaults);
      await tables.run(trx, all, new Date());
    },
    async announce() {
      source.afterTick();
    },
  };
}
