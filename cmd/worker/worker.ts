import type { Config } from '../../internal/config/read.ts';
import { component, ComponentGroup, inParallel } from '../../internal/lifecycle/group.ts';
import { overflowQueue } from '../../internal/queue/keys.ts';
import type { Database } from '../../internal/store/database.ts';
import { createStore } from '../../internal/store/store.ts';
import type { Telemetry } from '../../internal/telemetry/telemetry.ts';
import {
  consumerMetrics,
  maintenanceMetrics,
  overflowStoreMetrics,
  storeMetrics,
} from '../../internal/telemetry/worker-metrics.ts';
import { Maintenance } from '../../internal/worker/maintenance.ts';
import { redisSettings } from '../ingest/redis.ts';
import { createLane } from './lane.ts';

/** The settings of a worker, beside those of every process. The caller opens the database. */
export const workerSettings = [
  ...redisSettings,
  'QUEUE_NAME',
  'STORE_BATCH_EVENTS',
  'STORE_BATCH_BYTES',
  'STORE_STATEMENTS_IN_FLIGHT',
  'WORKER_CONCURRENCY',
  'OVERFLOW_CONCURRENCY',
  'JOB_LOCK_MS',
  'PARTITIONS_AHEAD_DAYS',
  'RETENTION_DAYS',
  'MAINTENANCE_INTERVAL_MS',
  'OVERDUE_AFTER_HOURS',
] as const;

export type WorkerConfig = Config<(typeof workerSettings)[number]>;

/** Wires the worker: Redis → Postgres. Closes the database when it stops. */
export function createWorker(config: WorkerConfig, db: Database, telemetry: Telemetry): ComponentGroup {
  const { logger, registry, probes, organization } = telemetry;
  const store = createStore(db, {
    partitionsAhead: config.PARTITIONS_AHEAD_DAYS,
    retentionDays: config.RETENTION_DAYS,
    overdueAfterHours: config.OVERDUE_AFTER_HOURS,
  });
  const consumed = consumerMetrics(registry);
  const stored = storeMetrics(registry, organization);
  const { QUEUE_NAME: queueName, WORKER_CONCURRENCY: jobs, STORE_STATEMENTS_IN_FLIGHT: statementsInFlight } = config;
  const main = createLane(config, store, { queueName, jobs, statementsInFlight, consumed, stored }, telemetry);
  const overflow = createLane(
    config,
    store,
    {
      queueName: overflowQueue(queueName),
      jobs: config.OVERFLOW_CONCURRENCY,
      statementsInFlight: 1,
      consumed,
      stored: overflowStoreMetrics(registry, stored),
    },
    telemetry,
  );
  const intervals = { intervalMs: config.MAINTENANCE_INTERVAL_MS, retryMs: 5_000 };
  const maintenance = new Maintenance(store, intervals, maintenanceMetrics(registry), logger);
  probes.live.set('progress', () => main.watch.stuck);
  probes.live.set('overflow', () => overflow.watch.stuck);
  probes.ready.set('queue', () => main.watch.queueProblem);
  probes.ready.set('postgres', () => main.watch.databaseProblem);
  return new ComponentGroup(
    'worker',
    [
      component('postgres', { stop: () => db.destroy() }),
      maintenance,
      inParallel('consumers', [main.consumer, overflow.consumer]),
      inParallel('progress watches', [main.watch, overflow.watch]),
    ],
    logger,
  );
}
