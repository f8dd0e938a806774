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

/** The settings of a worker beside those of every process. The database is opened by the caller. */
export const workerSettings = [
  'REDIS_URL',
  'REDIS_USERNAME',
  'REDIS_PASSWORD',
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

/**
 * While Postgres is away: tried again soon at first, then every two seconds or so, so that it
 * resumes quickly.
 */
const retry = { retryMinMs: 50, retryMaxMs: 2_000 };

/**
 * Time from the beginning of one statement to the next that is not full, in ms. Under steady load
 * it took a quarter off the CPU time of the worker and a sixth off that of Postgres; an event that
 * comes after a quiet moment does not wait.
 */
const intervalMs = 10;

/**
 * How long jobs gather before a worker that has just taken some looks again, in ms: less than the
 * interval, so that most of what it then takes is there when the next statement begins. With one
 * worker and 200 jobs a second it took a third off what Redis writes to its disk, and a fifth off
 * the CPU time of both.
 */
const fetchCooldownMs = 7;

/** How long a stop lets jobs under way finish before it gives them back to the queue, in ms. */
const drainMs = 10_000;

/** The worker, wired: Redis → Postgres. Closes the database when it stops. */
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
    redisUrl: config.REDIS_URL,
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
    holding: () => batcher.holding,
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
