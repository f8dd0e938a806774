import type { Config } from '../../internal/config/read.ts';
import { Consumer } from '../../internal/queue/consumer.ts';
import type { Telemetry } from '../../internal/telemetry/telemetry.ts';
import type { consumerMetrics } from '../../internal/telemetry/worker-metrics.ts';
import type { BatcherLimits } from '../../internal/worker/batcher.ts';
import { ProgressWatch, type ProgressSources } from '../../internal/worker/progress-watch.ts';
import type { Storage } from '../../internal/worker/storage.ts';
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

export type LaneConfig = Config<'STORE_BATCH_EVENTS' | 'STORE_BATCH_BYTES' | 'JOB_LOCK_MS'>;

export interface LaneOptions {
  /** Of every shard. */
  addresses: readonly RedisAddress[];
  queueName: string;
  /** Jobs of a shard under way at once. */
  jobs: number;
  statementsInFlight: number;
  consumed: ReturnType<typeof consumerMetrics>;
  /** What stores its jobs. */
  storage: (limits: BatcherLimits) => Storage;
  pingDatabase: ProgressSources['pingDatabase'];
  /** Receives the number of waiting jobs of a shard, every few seconds. */
  onWaiting?: ((jobs: number, shard: number) => void) | undefined;
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
  { addresses, queueName, jobs, statementsInFlight, consumed, storage, pingDatabase, onWaiting }: LaneOptions,
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
  const batcher = storage(limits);
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
      waitingJobs: async () => {
        const waiting = await consumer.waitingJobs();
        if (waiting !== undefined) onWaiting?.(waiting, index);
        return waiting;
      },
      pingDatabase,
      retrying: () => batcher.retrying,
      stored: () => (several ? handled : batcher.storedBatches),
    });
    return { consumer, watch };
  });
  return { consumers: shards.map(({ consumer }) => consumer), watches: shards.map(({ watch }) => watch) };
}

/** Why the consumer of a shard needs a restart; undefined if none does. */
export function stuck({ watches }: Lane): string | undefined {
  return watches.map((watch) => watch.stuck).find((reason) => reason !== undefined);
}
