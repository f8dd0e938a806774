import { within } from '../async/within.ts';
import { describeError, type Logger } from '../telemetry/logger.ts';
import { countJobs } from './aside-queues.ts';
import { joinClocks } from './join-clocks.ts';
import { readQueueClock, type QueueClock } from './queue-clock.ts';
import { commandTimeout, type RedisClient } from './redis.ts';
import { readRegistry, retireShards, type RegistryReading, type ShardConnection } from './shard-registry.ts';

/** A drained shard is retired once no pod has noted anything in it for so long, in ms. */
const retireMs = 600_000;

export interface QueueClocksOptions {
  /** The shards that take events, by the settings of this process. */
  taking: readonly ShardConnection[];
  /** Former shards, which are read until they are retired. */
  drained: readonly ShardConnection[];
  queueName: string;
  /** Queues beside it: a drained shard with jobs in them is not retired. */
  beside?: readonly string[];
  logger: Logger;
}

interface Reading {
  redis: RedisClient;
  clock: QueueClock;
  registry: RegistryReading;
  /** Jobs in the queues beside. */
  beside: number;
}

/**
 * Reads all shards of the queue as one. It reads none if one of them is unavailable, or is unknown
 * to this process: an event in it may not be stored yet, so nothing can be said about the record.
 */
export class QueueClocks {
  readonly #options: QueueClocksOptions;

  constructor(options: QueueClocksOptions) {
    this.#options = options;
  }

  /** Rejects with one sentence while a shard is unavailable or unknown. */
  async read(): Promise<QueueClock> {
    const { taking, drained } = this.#options;
    const all = [...taking, ...drained];
    const readings = await Promise.all(all.map((shard) => this.#readOne(shard, all.length > 1)));
    requireAllKnown(readings);
    await this.#retire(readings.slice(taking.length), readings);
    return joinClocks(readings.map(({ clock }) => clock));
  }

  /**
   * Reads the registry first. A pod that registers a shard later has no event there that is older
   * than the clock by more than the margin of the watermark.
   */
  async #readOne({ redis, label }: ShardConnection, several: boolean): Promise<Reading> {
    const { queueName, beside = [] } = this.#options;
    try {
      const registry = await within(commandTimeout, readRegistry(redis, queueName));
      const clock = await readQueueClock(redis, queueName);
      const jobs = await Promise.all(beside.map((queue) => countJobs(redis, queue)));
      return { redis, registry, clock, beside: jobs.reduce((sum, count) => sum + count, 0) };
    } catch (error) {
      const which = several ? `Redis ${label}` : 'Redis';
      throw new Error(`${which} does not answer: ${describeError(error).message}`, { cause: error });
    }
  }

  async #retire(drained: readonly Reading[], all: readonly Reading[]): Promise<void> {
    const known = new Set(all.flatMap(({ registry }) => [...registry.known.keys()]));
    const ids = drained.flatMap(({ registry: { id, inUse }, clock, beside }) => {
      const empty = clock.oldestAt === undefined && clock.overflow === undefined && beside === 0;
      const quiet = clock.now - (clock.admittingAt ?? 0) > retireMs;
      return id !== undefined && known.has(id) && !inUse && empty && quiet ? [id] : [];
    });
    if (ids.length === 0) return;
    const { queueName, logger } = this.#options;
    const shards = all.map(({ redis }) => redis);
    try {
      await within(commandTimeout, retireShards(shards, queueName, ids));
    } catch (error) {
      logger.debug({ error }, 'drained shards cannot be retired now');
      return;
    }
    logger.info({ shards: ids }, 'shards are drained: REDIS_DRAIN_URL need not name them any more');
  }
}

function requireAllKnown(readings: readonly Reading[]): void {
  const read = new Set(readings.map(({ registry }) => registry.id));
  for (const { registry } of readings) {
    for (const [id, label] of registry.known) {
      if (read.has(id)) continue;
      const shard = `The queue has a shard that this process does not read: ${label} (${id})`;
      throw new Error(`${shard}; name it in REDIS_URL or REDIS_DRAIN_URL.`);
    }
  }
}
