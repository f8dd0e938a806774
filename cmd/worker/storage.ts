import type { OrganizationMap } from '../../internal/store/organizations/organization-map.ts';
import type { AsideQueues } from '../../internal/queue/aside-queues.ts';
import { movingQueue, waitingQueue } from '../../internal/queue/keys/keys.ts';
import { movedOrganizations } from '../../internal/store/errors.ts';
import type { Store } from '../../internal/store/store.ts';
import type { DatabaseMetrics } from '../../internal/worker/worker-metrics.ts';
import type { Telemetry } from '../../internal/kit/telemetry/telemetry.ts';
import { storeMetricsOf, type storeMetrics } from '../../internal/worker/worker-metrics.ts';
import { Batcher, type BatcherLimits } from '../../internal/worker/batcher.ts';
import { IsolatingStore } from '../../internal/worker/isolating-store.ts';
import { Router, type RoutedQueue } from '../../internal/worker/router.ts';
import type { Storage } from '../../internal/worker/storage.ts';

type Metrics = ReturnType<typeof storeMetrics>;

/** Stores everything in one database. */
export function inOneDatabase(store: Store, stored: Metrics, { logger, tracing }: Telemetry) {
  return (limits: BatcherLimits): Storage =>
    new Batcher(new IsolatingStore(store, stored, logger), limits, stored, logger, tracing);
}

export interface SeveralDatabases {
  stores: ReadonlyMap<string, Store>;
  map: OrganizationMap;
  aside: AsideQueues;
  queueName: string;
  metrics: DatabaseMetrics;
}

/**
 * Stores each event in the database of its organization, with one batcher per database.
 * @param queue the queue of the jobs.
 */
export function inSeveralDatabases(
  { stores, map, aside, queueName, metrics }: SeveralDatabases,
  stored: Metrics,
  { logger, tracing }: Telemetry,
  queue: RoutedQueue,
) {
  return (limits: BatcherLimits): Storage => {
    const batcherOf = (name: string, store: Store): Batcher => {
      const own = storeMetricsOf(stored, name);
      const log = logger.child({ database: name });
      const routed = { ...limits, movedBecauseOf: movedOrganizations };
      return new Batcher(new IsolatingStore(store, own, log), routed, own, log, tracing);
    };
    return new Router({
      batchers: new Map(Array.from(stores, ([name, store]) => [name, batcherOf(name, store)])),
      map,
      setAside: async (events, reason) => {
        const moving = 'moving' in reason;
        await aside.add(moving ? movingQueue(queueName) : waitingQueue(queueName, reason.unavailable), events);
        metrics.setAside.inc({ database: moving ? 'moving' : reason.unavailable }, events.length);
      },
      queue,
      logger,
    });
  };
}
