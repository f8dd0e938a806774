import { within } from '../../kit/async/within.ts';
import { describeError, type Logger } from '../../kit/telemetry/logger.ts';
import { countJobs } from '../aside-queues.ts';
import { joinClocks } from './join-clocks.ts';
import { shardQueue } from '../keys/keys.ts';
import { readQueueClock, type QueueClock } from './queue-clock.ts';
import { commandTimeout } from '../redis.ts';
import {
  readRegistry,
  retireShards,
  shardOfLabel,
  type RegistryReading,
  type ShardConnection,
} from '../shards/shard-registry.ts';

/** A drained shard is retired once no pod has left a note in it for this long, in ms. */
const retireMs = 600_000;

export interface QueueClocksOptions {
  /** The shards that take events, from the settings of this process. */
  taking: readonly ShardConnection[];
  /** Former shards, which are read until they are retired. */
  drained: readonly ShardConnection[];
  /** Side queues: a drained shard with jobs in them is not retired. */
  beside?: readonly string[];
  logger: Logger;
}

interface Reading {
  shard: ShardConnection;
  clock: QueueClock;
  registry: RegistryReading;
  /** Jobs in the side queues. */
  beside: number;
}

/**
 * Reads all shards of the queue as one: those of the settings, and those that the registry names
 * inside the same Redis. Fails if a shard is unavailable or unknown to this process, since it may
 * hold events that are not stored yet: nothing can then be said about the record.
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
    const configured = await Promise.all(all.map((shard) => this.#readOne(shard, all.length > 1)));
    const readings = [...configured, ...(await this.#readOthersInside(configured))];
    requireAllKnown(readings);
    await this.#retire(readings.slice(taking.length), readings);
    return joinClocks(readings.map(({ clock }) => clock));
  }

  /**
   * Reads the registry first. A pod that registers a shard later has no event there older than the
   * clock by more than the margin of the watermark.
   */
  async #readOne(shard: ShardConnection, several: boolean): Promise<Reading> {
    const { beside = [] } = this.#options;
    try {
      const registry = await within(commandTimeout, readRegistry(shard));
      const clock = await readQueueClock(shard.redis, shard.queueName);
      const jobs = await Promise.all(beside.map((queue) => countJobs(shard.redis, queue)));
      return { shard, registry, clock, beside: jobs.reduce((sum, count) => sum + count, 0) };
    } catch (error) {
      const which = several ? `Redis ${shard.label}` : 'Redis';
      throw new Error(`${which} does not answer: ${describeError(error).message}`, { cause: error });
    }
  }

  /** Reads shards inside the same Redis that this process's QUEUE_SHARDS does not cover. */
  async #readOthersInside(configured: readonly Reading[]): Promise<Reading[]> {
    const read = new Set(configured.map(({ registry }) => registry.id));
    const others = configured
      .filter(({ shard }) => shardOfLabel(shard.label) === 0)
      .flatMap(({ shard: { redis, queueName }, registry }) =>
        [...registry.known].flatMap(([id, label]) => {
          const number = read.has(id) ? 0 : shardOfLabel(label);
          return number ? [{ id, shard: { redis, queueName: shardQueue(queueName, number), label } }] : [];
        }),
      );
    const readings = await Promise.all(
      others.map(async ({ id, shard }) => ({ id, reading: await this.#readOne(shard, true) })),
    );
    // If several Redis are registered, the number may be one of another Redis.
    return readings.flatMap(({ id, reading }) => (reading.registry.id === id ? [reading] : []));
  }

  async #retire(drained: readonly Reading[], all: readonly Reading[]): Promise<void> {
    const known = new Set(all.flatMap(({ registry }) => [...registry.known.keys()]));
    const retired = drained.filter(({ registry: { id, inUse }, clock, beside }) => {
      const empty = clock.oldestAt === undefined && clock.overflow === undefined && beside === 0;
      const quiet = clock.now - (clock.admittingAt ?? 0) > retireMs;
      return id !== undefined && known.has(id) && !inUse && empty && quiet;
    });
    if (retired.length === 0) return;
    const { logger } = this.#options;
    const ids = retired.map(({ registry }) => String(registry.id));
    try {
      const shards = all.map(({ shard }) => shard);
      await within(commandTimeout, retireShards(shards, ids));
    } catch (error) {
      logger.debug({ error }, 'drained shards cannot be retired now');
      return;
    }
    const labels = retired.map(({ shard }) => shard.label);
    logger.info({ shards: labels, ids }, 'shards are drained: no process needs them any more');
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
