import type { Config } from '../../internal/config/read.ts';
import { Consumer } from '../../internal/queue/consumer.ts';
import type { Store } from '../../internal/store/store.ts';
import type { Telemetry } from '../../internal/telemetry/telemetry.ts';
import type { consumerMetrics, StoreMetrics } from '../../internal/telemetry/worker-metrics.ts';
import { Batcher } from '../../internal/worker/batcher.ts';
import { IsolatingStore } from '../../internal/worker/isolating-store.ts';
import { ProgressWatch } from '../../internal/worker/progress-watch.ts';
import type { RedisAddress } from '../../internal/queue/redis.ts';

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

type LaneConfig = Config<'STORE_BATCH_EVENTS' | 'STORE_BATCH_BYTES' | 'JOB_LOCK_MS'>;

export interface LaneOptions {
  /** Of every shard. */
  addresses: readonly RedisAddress[];
  queueName: string;
  /** Jobs of a shard under way at once. */
  jobs: number;
  statementsInFlight: number;
  consumed: ReturnType<typeof consumerMetrics>;
  stored: StoreMetrics;
}

/** A queue in all its shards, and what stores its jobs: one consumer and one watch a shard. */
export interface Lane {
  consumers: Consumer[];
  watches: ProgressWatch[];
}

/**
 * Wires one lane of a worker. Lanes share the store, and wait for nothing of each other. The shards
 * of a lane share its batcher, so that statements stay large.
 */
export function createLane(
  config: LaneConfig,
  store: Store,
  { addresses, queueName, jobs, statementsInFlight, consumed, stored }: LaneOptions,
  { logger, tracing }: Telemetry,
): Lane {
  const limits = {
    ...retry,
    batchEvents: config.STORE_BATCH_EVENTS,
    batchBytes: config.STORE_BATCH_BYTES,
    jobs: jobs * addresses.length,
    statementsInFlight,
    intervalMs,
  };
  const batcher = new Batcher(new IsolatingStore(store, stored, logger), limits, stored, logger, tracing);
  let running = addresses.length;
  /** Abandons at the last consumer that stops: the others may still store events. */
  const abandon = (): void => {
    running -= 1;
    if (running <= 0) batcher.abandon();
  };
  const several = addresses.length > 1;
  const shards = addresses.map((redis, index) => {
    let handled = 0;
    const consumer = new Consumer({
      redis,
      queueName,
      concurrency: jobs,
      fetchCooldownMs,
      lockMs: config.JOB_LOCK_MS,
      handle: async (events, redelivered) => {
        const result = await batcher.add(events, redelivered);
        if (result === 'stored') handled += 1;
        return result;
      },
      abandon,
      drainMs,
      metrics: several ? consumed.ofShard(String(index)) : consumed,
      logger,
      tracing,
    });
    const watch = new ProgressWatch({
      waitingJobs: () => consumer.waitingJobs(),
      pingDatabase: () => store.ping(),
      retrying: () => batcher.retrying,
      stored: () => (several ? handled : batcher.storedBatches),
    });
    return { consumer, watch };
  });
  return { consumers: shards.map(({ consumer }) => consumer), watches: shards.map(({ watch }) => watch) };
}
