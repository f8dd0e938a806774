import { ClusterDeclarationSource } from '../../internal/automations/cluster-source.ts';
import type { DeclarationSource } from '../../internal/automations/declarations.ts';
import { FileDeclarationSource } from '../../internal/automations/file-source.ts';
import { syncDeclarations } from '../../internal/automations/sync-tables.ts';
import { withDefaults } from '../../internal/capture/default-declarations.ts';
import type { JobCapture } from '../../internal/capture/job-capture.ts';
import type { Config } from '../../internal/config/read.ts';
import type { Database } from '../../internal/store/database.ts';
import { automationMetrics } from '../../internal/telemetry/automation-metrics.ts';
import type { Telemetry } from '../../internal/telemetry/telemetry.ts';
import type { TickListener } from '../../internal/verdicts/tick-listener.ts';
import { clusterAccount } from '../ingest/tokens.ts';

export const declarationSettings = [
  'AUTOMATIONS_FILE',
  'AUTOMATIONS_NAMESPACES',
  'TOKENS_ACCOUNT_DIR',
  'KUBERNETES_SERVICE_HOST',
  'KUBERNETES_SERVICE_PORT',
  'KUBECONFIG',
] as const;

type DeclarationConfig = Config<(typeof declarationSettings)[number]>;

/** Declarations from `AUTOMATIONS_FILE` if it is set, else from the resources of the cluster. */
export function createDeclarationSource(
  config: DeclarationConfig,
  db: Database,
  { logger, registry, probes }: Telemetry,
): DeclarationSource {
  const metrics = automationMetrics(registry);
  const { AUTOMATIONS_FILE: path, AUTOMATIONS_NAMESPACES: namespaces } = config;
  const source =
    path === undefined
      ? new ClusterDeclarationSource({
          connect: clusterAccount(config, 'AUTOMATIONS_FILE'),
          namespaces: namespaces?.split(',') ?? [],
          db,
          logger,
          metrics,
        })
      : new FileDeclarationSource({ path, logger, metrics });
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
  return {
    async record(trx) {
      const declarations = source.current();
      const defaults = cronJobs === undefined ? [] : cronJobs.declarations();
      if (declarations === undefined || defaults === undefined) return;
      await syncDeclarations(trx, withDefaults(declarations, defaults), new Date());
    },
    async announce() {
      source.afterTick();
    },
  };
}
