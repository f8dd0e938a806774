import { Archive } from '../../internal/archive/archive.ts';
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
import { drainedAddresses, readerRedisSettings, redisAddresses } from '../ingest/redis.ts';
import { createLane, type Lane } from './lane.ts';
import { createSealer, logSettings } from './sealer.ts';

/** The settings of a worker, beside those of every process. The caller opens the database. */
export const workerSettings = [
  ...readerRedisSettings,
  'QUEUE_NAME',
  'STORE_BATCH_EVENTS',
  'STORE_BATCH_BYTES',
  'STORE_STATEMENTS_IN_FLIGHT',
  'WORKER_CONCURRENCY',
  'OVERFLOW_CONCURRENCY',
  'JOB_LOCK_MS',
  'PARTITIONS_AHEAD_DAYS',
  'RETENTION_DAYS',
  'ARCHIVE_URL',
  'MAINTENANCE_INTERVAL_MS',
  'OVERDUE_AFTER_HOURS',
  ...logSettings,
] as const;

export type WorkerConfig = Config<(typeof workerSettings)[number]>;

/** Wires the worker: Redis → Postgres. Closes the database when it stops. */
export function createWorker(config: WorkerConfig, db: Database, telemetry: Telemetry): ComponentGroup {
  const { logger, registry, probes, organization } = telemetry;
  const archive = config.ARCHIVE_URL === undefined ? undefined : new Archive(db, config.ARCHIVE_URL);
  const sealer = createSealer(config, db, telemetry);
  const store = createStore(db, {
    leaves: sealer !== undefined,
    onStored: (stored, events) => sealer?.note(stored, events >= config.STORE_BATCH_EVENTS / 2),
    findArchived: archive && ((partition) => archive.find(partition)),
    partitionsAhead: config.PARTITIONS_AHEAD_DAYS,
    retentionDays: config.RETENTION_DAYS,
    overdueAfterHours: config.OVERDUE_AFTER_HOURS,
  });
  const consumed = consumerMetrics(registry);
  const stored = storeMetrics(registry, organization);
  const { QUEUE_NAME: queueName, WORKER_CONCURRENCY: jobs, STORE_STATEMENTS_IN_FLIGHT: statementsInFlight } = config;
  const addresses = [...redisAddresses(config), ...drainedAddresses(config)];
  const main = createLane(
    config,
    store,
    { addresses, queueName, jobs, statementsInFlight, consumed, stored },
    telemetry,
  );
  const overflow = createLane(
    config,
    store,
    {
      addresses,
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
  probes.live.set('progress', () => stuck(main));
  probes.live.set('overflow', () => stuck(overflow));
  // A worker is ready while it can fetch jobs from one shard at least.
  probes.ready.set('queue', () =>
    main.watches.every((watch) => watch.queueProblem) ? main.watches[0]?.queueProblem : undefined,
  );
  probes.ready.set('postgres', () => main.watches[0]?.databaseProblem);
  return new ComponentGroup(
    'worker',
    [
      component('postgres', { stop: () => db.destroy() }),
      ...(archive === undefined ? [] : [component('archive', { stop: () => archive.close() })]),
      maintenance,
      ...(sealer === undefined ? [] : [sealer]),
      inParallel('consumers', [...main.consumers, ...overflow.consumers]),
      inParallel('progress watches', [...main.watches, ...overflow.watches]),
    ],
    logger,
  );
}

/** Why the consumer of a shard needs a restart; undefined if none does. */
function stuck({ watches }: Lane): string | undefined {
  return watches.map((watch) => watch.stuck).find((reason) => reason !== undefined);
}
