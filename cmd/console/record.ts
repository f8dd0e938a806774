import { firstDatabase, OrganizationMap } from '../../internal/store/organizations/organization-map.ts';
import type { MacKey } from '../../internal/ledger/mac.ts';
import type { Component } from '../../internal/kit/lifecycle/component.ts';
import { createQueries, defaultQueryOptions, type Queries } from '../../internal/record/queries.ts';
import { RecordWatch } from '../../internal/record/record-watch.ts';
import { routeRecord } from '../../internal/record/routed-queries.ts';
import { serveRecord } from '../../internal/record/served-queries.ts';
import type { Database } from '../../internal/store/database.ts';
import { watchMetricsOf, type ConsoleMetrics, type PoolFigures } from '../../internal/record/console-metrics.ts';
import type { Telemetry } from '../../internal/kit/telemetry/telemetry.ts';
import type { ConsoleDatabase } from './database.ts';

/** What a console reads, from one database or several. */
export interface ConsoleRecord {
  record: Queries;
  /** In the order of their start. */
  watches: Component[];
  /** How far the replica of an organization is behind, in ms; undefined for a primary. */
  lagMsOf: (organization: string) => number | undefined;
  /** The writable database of an organization. */
  writtenOf: (organization: string) => Database;
}

interface Shown {
  metrics: ConsoleMetrics;
  /** Receives the pools of the databases. */
  pools: Map<string | undefined, PoolFigures>;
  /** The keys of owners' acts; none without a log. */
  actKeys: readonly MacKey[];
}

/** Wires the record of a console and the checks of its databases. */
export function createConsoleRecord(
  { db, pool, login, others = new Map() }: ConsoleDatabase,
  { metrics, pools, actKeys }: Shown,
  { logger, probes }: Telemetry,
): ConsoleRecord {
  const several = others.size > 0;
  const own = createQueries(db, defaultQueryOptions, actKeys);
  if (pool !== undefined) pools.set(several ? firstDatabase : undefined, pool);
  const watch = new RecordWatch(db, watchMetricsOf(metrics, several ? firstDatabase : undefined), logger);
  // Once Postgres has answered, the pod stays ready and answers 503 itself
  // (docs/decisions/README.md).
  probes.ready.set('postgres', () => watch.neverAnswered);
  probes.degraded.set('postgres', () => watch.problem);
  if (!several) {
    const record = serveRecord(own, metrics);
    return { record, watches: [watch], lagMsOf: () => watch.lagMs, writtenOf: () => login.db };
  }
  const map = new OrganizationMap(login.db, logger);
  probes.ready.set('organizations', () => (map.isKnown ? undefined : 'The map of organizations is not loaded yet.'));
  const records = new Map([[firstDatabase, own]]);
  const watches = new Map([[firstDatabase, watch]]);
  for (const [name, other] of others) {
    const record = createQueries(other.db, defaultQueryOptions, actKeys);
    const otherWatch = new RecordWatch(other.db, watchMetricsOf(metrics, name), logger.child({ database: name }));
    records.set(name, record);
    watches.set(name, otherWatch);
    if (other.pool !== undefined) pools.set(name, other.pool);
    probes.degraded.set(`postgres ${name}`, () => otherWatch.problem);
  }
  const databaseOf = (organization: string): string =>
    map.isKnown ? map.placeOf(organization).database : firstDatabase;
  return {
    record: serveRecord(routeRecord(records, map), metrics),
    watches: [map, ...watches.values()],
    lagMsOf: (organization) => watches.get(databaseOf(organization))?.lagMs,
    writtenOf: (organization) => others.get(databaseOf(organization))?.written ?? login.db,
  };
}
