import type { Config } from '../../internal/config/read.ts';
import type { Component } from '../../internal/kit/lifecycle/component.ts';
import { inParallel } from '../../internal/kit/lifecycle/group.ts';
import { Consumer } from '../../internal/queue/consumer.ts';
import { shardQueue } from '../../internal/queue/keys/keys.ts';
import type { Telemetry } from '../../internal/kit/telemetry/telemetry.ts';
import type { consumerMetrics } from '../../internal/queue/consumer-metrics.ts';
import type { BatcherLimits } from '../../internal/worker/batcher.ts';
import { ProgressWatch, type ProgressSources } from '../../internal/worker/progress-watch.ts';
import { mayBeArchived } from '../../internal/store/insert-unless-archived.ts';
import type { Storage } from '../../internal/worker/storage.ts';
import type { RedisAddress } from '../../internal/queue/redis.ts';
import type { Room } from '../../internal/queue/admission/room.ts';

/** Pauses of retries while Postgres is unavailable: short at first, then about two seconds. */
const retry = { retryMinMs: 50, retryMaxMs: 2_000 };

/**
 * Interval of the starts of statements that are not full, in ms. Saves a quarter of the worker's
 * CPU time under steady load. An event after a quiet moment does not wait.
 */
const intervalMs = 10;

/**
 * Fetch cooldown, in ms: less than the interval of statements. Saves 40 % of the worker's and
 * Redis' CPU time at 5,000 events/s (test/bench/README.md).
 */
const fetchCooldownMs = 7;

/** About how many bytes of texts make a statement full. */
const batchBytes = 8 * 1_024 * 1_024;

/** How long a stop waits for jobs under way before it returns them to the queue, in ms. */
const drainMs = 10_000;

export type LaneConfig = Config<'STORE_BATCH_EVENTS' | 'JOB_LOCK_MS'>;

export interface LaneOptions {
  /** The addresses of every Redis. */
  addresses: readonly RedisAddress[];
  /** Shards inside each Redis: `QUEUE_SHARDS`. */
  inside: number;
  queueName: string;
  /** Jobs of a shard under way at once. */
  jobs: number;
  /** Memory for the events of its jobs. */
  room: Room;
  statementsInFlight: number;
  consumed: ReturnType<typeof consumerMetrics>;
  /** What stores its jobs. */
  storage: (limits: BatcherLimits) => Storage;
  pingDatabase: ProgressSources['pingDatabase'];
  /** Receives the number of waiting jobs of a shard, every few seconds. */
  onWaiting?: ((jobs: number, shard: number) => void) | undefined;
}

/** A queue in all its shards, and what stores its jobs: one consumer and one watch per shard. */
export interface Lane {
  /** All consumers as one part, and all watches. It also stops those that are opened later. */
  readonly consuming: Component;
  readonly watching: Component;
  /** Grows with each shard that is opened later. */
  readonly watches: readonly ProgressWatch[];
  /** {@link Consumer.otherShards} of the consumer at an index. */
  otherShards: (index: number) => Promise<number[] | undefined>;
  /** Starts taking the jobs of one more shard inside a Redis. */
  open: (address: RedisAddress, shard: number) => Promise<void>;
}

/**
 * Wires one lane of a worker. Lanes share the store but never wait for each other. The shards of a
 * lane share its batcher, so that statements stay large.
 */
export function createLane(
  config: LaneConfig,
  {
    addresses,
    inside,
    queueName,
    jobs,
    room,
    statementsInFlight,
    consumed,
    storage,
    pingDatabase,
    onWaiting,
  }: LaneOptions,
  { logger, tracing }: Telemetry,
): Lane {
  const limits = {
    ...retry,
    batchEvents: config.STORE_BATCH_EVENTS,
    batchBytes,
    jobs: jobs * addresses.length * inside,
    statementsInFlight,
    intervalMs,
  };
  const batcher = storage(limits);
  /** Stores what may wait for the archive, so that nothing else does. */
  const ofOld = storage(limits);
  const consumers: Consumer[] = [];
  const watches: ProgressWatch[] = [];
  let running = 0;
  /** Abandons once the last consumer stops: others may still store events. */
  const abandon = (): void => {
    running -= 1;
    if (running > 0) return;
    batcher.abandon();
    ofOld.abandon();
  };
  /** @param label the label of the metrics; none if the settings have one shard. */
  const add = (redis: RedisAddress, shard: number, label?: string): Component[] => {
    let handled = 0;
    running += 1;
    const place = consumers.length;
    const consumer = new Consumer({
      redis,
      queueName: shardQueue(queueName, shard),
      concurrency: jobs,
      room,
      fetchCooldownMs,
      lockMs: config.JOB_LOCK_MS,
      handle: async (events, redelivered) => {
        const result = await (mayBeArchived(events) ? ofOld : batcher).add(events, redelivered);
        if (result === 'stored') handled += 1;
        return result;
      },
      abandon,
      drainMs,
      metrics: consumed.ofShard(label),
      logger,
      tracing,
    });
    const watch = new ProgressWatch({
      waitingJobs: async () => {
        const waiting = await consumer.waitingJobs();
        if (waiting !== undefined) onWaiting?.(waiting, place);
        return waiting;
      },
      pingDatabase,
      retrying: () => batcher.retrying || ofOld.retrying,
      stored: () => (consumers.length > 1 ? handled : batcher.storedBatches + ofOld.storedBatches) + consumer.delayed,
    });
    consumers.push(consumer);
    watches.push(watch);
    return [consumer, watch];
  };
  // The first ones are shard 0 of each Redis, which {@link Lane.otherShards} asks.
  const all = Array.from({ length: inside }, (_, shard) => shard).flatMap((shard) =>
    addresses.map((address) => ({ address, shard })),
  );
  for (const [index, { address, shard }] of all.entries()) {
    add(address, shard, all.length > 1 ? String(index) : undefined);
  }
  return {
    watches,
    consuming: inParallel('consumers', consumers),
    watching: inParallel('progress watches', watches),
    otherShards: async (index) => consumers[index]?.otherShards(),
    open: async (address, shard) => {
      const label = addresses.length === 1 ? String(shard) : `registered-${shard}`;
      for (const part of add(address, shard, label)) await part.start();
    },
  };
}

/** Why the consumer of a shard needs a restart; undefined if none does. */
export function stuck({ watches }: Lane): string | undefined {
  return watches.map((watch) => watch.stuck).find((reason) => reason !== undefined);
}
