import type { Declarations, DeclarationSource } from '../../internal/automations/declarations.ts';
import { TableSync } from '../../internal/automations/table-sync.ts';
import { withDefaults } from '../../internal/capture/default-declarations.ts';
import type { Residents } from '../../internal/databases/residents.ts';
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
  databaseOf?: (organization: string) => Database,
): Promise<DeclarationSource> {
  const metrics = automationMetrics(registry);
  const { AUTOMATIONS_FILE: path } = config;
  const source =
    path === undefined
      ? (await import('./cluster-declarations.ts')).createClusterSource(config, { db, databaseOf, logger, metrics })
      : new (await import('./file-declarations.ts')).FileDeclarationSource({ path, logger, metrics });
  probes.ready.set('automations', () => source.unready());
  return source;
}

/**
 * Brings the tables up to date at each tick, and then shows the verdicts in the resources. Captured
 * CronJobs declare the automations that nothing else declares.
 * @param residents the organizations of the database, if there are several.
 */
export function followDeclarations(
  source: Pick<DeclarationSource, 'current' | 'afterTick'>,
  cronJobs?: Pick<JobCapture, 'declarations'>,
  residents?: Residents,
): TickListener {
  const tables = new TableSync();
  const ofResidents = residents === undefined ? (all: Declarations) => all : keepResidents(residents);
  return {
    async recordTransitions() {},
    async recordTick(trx) {
      const declarations = source.current();
      const defaults = cronJobs === undefined ? [] : cronJobs.declarations();
      if (declarations === undefined || defaults === undefined) return;
      const all = defaults.length === 0 ? declarations : withDefaults(declarations, defaults);
      await tables.run(trx, ofResidents(all), new Date());
    },
    async announce() {
      source.afterTick();
    },
  };
}

/** Keeps what is declared for the organizations of a database: the same object until it changes. */
function keepResidents(residents: Residents): (all: Declarations) => Declarations {
  let last: { all: Declarations; version: string; kept: Declarations } | undefined;
  return (all) => {
    if (last?.all !== all || last.version !== residents.version) {
      const isHere = ({ organization }: { organization: string }): boolean => residents.isHere(organization);
      const kept = { ...all, automations: all.automations.filter(isHere), webhooks: all.webhooks.filter(isHere) };
      last = { all, version: residents.version, kept };
    }
    return last.kept;
  };
}
