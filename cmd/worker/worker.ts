import type { Config } from '../../internal/config/read.ts';
import { component, ComponentGroup } from '../../internal/lifecycle/group.ts';
import { Consumer } from '../../internal/queue/consumer.ts';
import type { Database } from '../../internal/store/database.ts';
import { createStore } from '../../internal/store/store.ts';
import type { Telemetry } from '../../internal/telemetry/telemetry.ts';
import { consumerMetrics, maintenanceMetrics, storeMetrics } from '../../internal/telemetry/worker-metrics.ts';
import { Batcher } from '../../internal/worker/batcher.ts';
import { IsolatingStore } from '../../internal/worker/isolating-store.ts';
import { Maintenance } from '../../internal/worker/maintenance.ts';
import { ProgressWatch } from '../../internal/worker/progress-watch.ts';
import { redisAddress, redisSettings } from '../ingest/redis.ts';

/** The settings of a worker, beside those of every process. The caller opens the database. */
export const workerSettings = [
  ...redisSettings,
  'QUEUE_NAME',
  'STORE_BATCH_EVENTS',
  'STORE_BATCH_BYTES',
  'STORE_STATEMENTS_IN_FLIGHT',
  'WORKER_CONCURRENCY',
  'JOB_LOCK_MS',
  'PARTITIONS_AHEAD_DAYS',
  'RETENTION_DAYS',
  'MAINTENANCE_INTERVAL_MS',
  'OVERDUE_AFTER_HOURS',
] as const;

export type WorkerConfig = Config<(typeof workerSettings)[number]>;

/** Pauses of retries while Postgres is unavailable: short at first, then about two seconds. */
const retry = { retryMinMs: 50, retryMaxMs: 2_000 };

/**
 * Time between the starts of two statements that are not full, in ms. It saves a quarter of the
 * worker's CPU time under steady load. An event after a quiet moment does not wait.
 */
const intervalMs = 10;

/**
 * Fetch cooldown, in ms: less than the interval of statements. It saves 40 % of the CPU time of the
 * worker and of Redis at 5,000 events/s (test/bench/README.md).
 */
const fetchCooldownMs = 7;

/** Time that a stop gives jobs under way before it returns them to the queue, in ms. */
const drainMs = 10_000;

/** Wires the worker: Redis → Postgres. Closes the database when it stops. */
export function createWorker(config: WorkerConfig, db: Database, telemetry: Telemetry): ComponentGroup {
  const { logger, registry, probes, organization, tracing } = telemetry;
  const store = createStore(db, {
    partitionsAhead: config.PARTITIONS_AHEAD_DAYS,
    retentionDays: config.RETENTION_DAYS,
    overdueAfterHours: config.OVERDUE_AFTER_HOURS,
  });
  const limits = {
    ...retry,
    batchEvents: config.STORE_BATCH_EVENTS,
    batchBytes: config.STORE_BATCH_BYTES,
    jobs: config.WORKER_CONCURRENCY,
    statementsInFlight: config.STORE_STATEMENTS_IN_FLIGHT,
    intervalMs,
  };
  const metrics = storeMetrics(registry, organization);
  const batcher = new Batcher(new IsolatingStore(store, metrics, logger), limits, metrics, logger, tracing);
  const consumer = new Consumer({
    redis: redisAddress(config),
    queueName: config.QUEUE_NAME,
    concurrency: config.WORKER_CONCURRENCY,
    fetchCooldownMs,
    lockMs: config.JOB_LOCK_MS,
    handle: (events, redelivered) => batcher.add(events, redelivered),
    abandon: () => batcher.abandon(),
    drainMs,
    metrics: consumerMetrics(registry),
    logger,
    tracing,
  });
  const intervals = { intervalMs: config.MAINTENANCE_INTERVAL_MS, retryMs: 5_000 };
  const maintenance = new Maintenance(store, intervals, maintenanceMetrics(registry), logger);
  const watch = new ProgressWatch({
    waitingJobs: () => consumer.waitingJobs(),
    pingDatabase: () => store.ping(),
    retrying: () => batcher.retrying,
    stored: () => batcher.storedBatches,
  });
  probes.live.set('progress', () => watch.stuck);
  probes.ready.set('queue', () => watch.queueProblem);
  probes.ready.set('postgres', () => watch.databaseProblem);
  return new ComponentGroup(
    'worker',
    [component('postgres', { stop: () => db.destroy() }), maintenance, consumer, watch],
    logger,
  );
}
