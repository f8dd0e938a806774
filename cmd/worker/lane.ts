import type { Config } from '../../internal/config/read.ts';
import { Consumer } from '../../internal/queue/consumer.ts';
import type { Store } from '../../internal/store/store.ts';
import type { Telemetry } from '../../internal/telemetry/telemetry.ts';
import type { ConsumerMetrics, StoreMetrics } from '../../internal/telemetry/worker-metrics.ts';
import { Batcher } from '../../internal/worker/batcher.ts';
import { IsolatingStore } from '../../internal/worker/isolating-store.ts';
import { ProgressWatch } from '../../internal/worker/progress-watch.ts';
import { redisAddress, type redisSettings } from '../ingest/redis.ts';

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

type LaneConfig = Config<(typeof redisSettings)[number] | 'STORE_BATCH_EVENTS' | 'STORE_BATCH_BYTES' | 'JOB_LOCK_MS'>;

export interface LaneOptions {
  queueName: string;
  /** Jobs under way at once. */
  jobs: number;
  statementsInFlight: number;
  consumed: ConsumerMetrics;
  stored: StoreMetrics;
}

/** A queue, and what stores its jobs. */
export interface Lane {
  consumer: Consumer;
  watch: ProgressWatch;
}

/** Wires one lane of a worker. Lanes share the store, and wait for nothing of each other. */
export function createLane(
  config: LaneConfig,
  store: Store,
  { queueName, jobs, statementsInFlight, consumed, stored }: LaneOptions,
  { logger, tracing }: Telemetry,
): Lane {
  const limits = {
    ...retry,
    batchEvents: config.STORE_BATCH_EVENTS,
    batchBytes: config.STORE_BATCH_BYTES,
    jobs,
    statementsInFlight,
    intervalMs,
  };
  const batcher = new Batcher(new IsolatingStore(store, stored, logger), limits, stored, logger, tracing);
  const consumer = new Consumer({
    redis: redisAddress(config),
    queueName,
    concurrency: jobs,
    fetchCooldownMs,
    lockMs: config.JOB_LOCK_MS,
    handle: (events, redelivered) => batcher.add(events, redelivered),
    abandon: () => batcher.abandon(),
    drainMs,
    metrics: consumed,
    logger,
    tracing,
  });
  const watch = new ProgressWatch({
    waitingJobs: () => consumer.waitingJobs(),
    pingDatabase: () => store.ping(),
    retrying: () => batcher.retrying,
    stored: () => batcher.storedBatches,
  });
  return { consumer, watch };
}
