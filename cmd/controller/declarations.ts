import type {
  DeclarationSource,
  Declarations,
  DeclaredAutomation,
} from '../../internal/controller/declarations/declarations.ts';
import { TableSync } from '../../internal/controller/declarations/table-sync.ts';
import { ConsoleDeclarations } from '../../internal/controller/declarations/console-declarations.ts';
import { withDefaults } from '../../internal/controller/capture/default-declarations.ts';
import type { Residents } from '../../internal/store/organizations/residents.ts';
import type { JobCapture } from '../../internal/controller/capture/job-capture.ts';
import type { Database } from '../../internal/store/database.ts';
import { automationMetrics } from '../../internal/controller/declarations/automation-metrics.ts';
import type { Telemetry } from '../../internal/kit/telemetry/telemetry.ts';
import type { TickListener } from '../../internal/controller/verdicts/tick-listener.ts';
import type { DeclarationConfig } from './declaration-settings.ts';
import { StoredDeclarations } from './stored-declarations.ts';

/**
 * Declarations from `AUTOMATIONS_FILE` if it is set, or else from the resources of the cluster.
 * Loads only the code that it needs.
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

const none: readonly DeclaredAutomation[] = [];

/**
 * Updates the tables at each tick, and then shows the verdicts in the resources. Captured CronJobs
 * declare the automations that nothing else declares.
 * @param residents the organizations of the database, if there are several.
 */
export function followDeclarations(
  source: Pick<DeclarationSource, 'current' | 'refuse' | 'afterTick'>,
  cronJobs?: Pick<JobCapture, 'declarations'>,
  residents?: Residents,
): TickListener {
  const tables = new TableSync();
  const stored = new StoredDeclarations(residents);
  const ofConsole = new ConsoleDeclarations();
  let last: { from: readonly unknown[]; all: Declarations } | undefined;
  return {
    async recordTransitions() {},
    async recordTick(trx, _watermark, _held, turns) {
      const declarations = source.current();
      const defaults = cronJobs === undefined ? none : cronJobs.declarations();
      if (declarations === undefined || defaults === undefined) return;
      const owned = await ofConsole.read(trx);
      const from = [declarations, owned, defaults];
      if (last === undefined || from.some((part, index) => part !== last?.from[index])) {
        // A resource or a file takes precedence over the console, and the console over defaults.
        const others = [owned, defaults].filter((some) => some.length > 0);
        last = { from, all: others.reduce(withDefaults, declarations) };
      }
      const refused = stored.refuse(await tables.run(trx, stored.of(last.all), new Date(), turns));
      if (refused.length > 0) source.refuse(refused);
    },
    async announce() {
      source.afterTick();
    },
  };
}
