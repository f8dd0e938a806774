import { randomUUID } from 'node:crypto';
import { Repeating } from '../async/repeating.ts';
import type { Logger } from '../telemetry/logger.ts';
import { queueKey } from './keys.ts';
import type { RedisClient } from './redis.ts';

/** Time between two registrations: an operator may have replaced a Redis. In ms. */
const repeatMs = 10_000;

/** The same while a shard is not registered, in ms. */
const retryMs = 500;

/** A shard is in use for so long after a pod registered it, in ms. */
const inUseMs = 600_000;

/** A Redis of the queue. The label is for people: its address, without user and password. */
export interface ShardConnection {
  redis: RedisClient;
  label: string;
}

/**
 * Registers the shards of the queue in each of them, before the first event goes to one. So a
 * controller that reads only some of them knows that the record is not complete
 * (ARCHITECTURE.md, "Shards of the queue").
 */
export class ShardRegistry {
  readonly name = 'shard registry';
  readonly #shards: readonly ShardConnection[];
  readonly #queueName: string;
  readonly #logger: Logger;
  readonly #registered = new Set<RedisClient>();
  /** Connections lost so far, to tell one connection from the next. */
  readonly #lost = new Map<RedisClient, number>();
  readonly #repeating = new Repeating(async () => {
    await this.registerAll();
    return this.#registered.size === this.#shards.length ? repeatMs : retryMs;
  });

  constructor(shards: readonly ShardConnection[], queueName: string, logger: Logger) {
    this.#shards = shards;
    this.#queueName = queueName;
    this.#logger = logger;
    for (const { redis } of shards) {
      // The next connection may lead to another server.
      redis.on('close', () => this.#forget(redis)).on('ready', () => void this.registerAll());
    }
  }

  /** True when events may go to the shard. */
  has(redis: RedisClient): boolean {
    return this.#registered.has(redis);
  }

  /** Registers once before it resolves. An unavailable shard is no error. */
  async start(): Promise<void> {
    await this.registerAll();
    this.#repeating.start(retryMs);
  }

  async stop(): Promise<void> {
    await this.#repeating.stop();
  }

  #forget(redis: RedisClient): void {
    this.#registered.delete(redis);
    this.#lost.set(redis, (this.#lost.get(redis) ?? 0) + 1);
  }

  /** Never rejects. */
  async registerAll(): Promise<void> {
    const lost = new Map(this.#lost);
    try {
      const ids = await Promise.all(this.#shards.map(({ redis }) => shardId(redis, this.#queueName)));
      const entries = new Map(this.#shards.map(({ label }, index) => [ids[index] ?? '', label]));
      const key = queueKey(this.#queueName, 'shards');
      await Promise.all(this.#shards.map(({ redis }) => redis.hset(key, entries)));
      await Promise.all(this.#shards.map(({ redis }) => redis.set(inUseKey(this.#queueName), '', 'PX', inUseMs)));
      await Promise.all(this.#shards.map(({ redis }) => redis.sadd(this.#listsKey, this.#list)));
      for (const { redis } of this.#shards) this.#add(redis, lost);
    } catch (error) {
      this.#logger.debug({ error }, 'not all shards of the queue can be registered now');
      await this.#trustEarlier(lost);
    }
  }

  /**
   * While a shard is unavailable, events may go to the others if this list of shards was once
   * registered in all of them.
   */
  async #trustEarlier(lost: ReadonlyMap<RedisClient, number>): Promise<void> {
    const look = async ({ redis }: ShardConnection): Promise<void> => {
      if ((await redis.sismember(this.#listsKey, this.#list)) === 1) this.#add(redis, lost);
    };
    await Promise.allSettled(this.#shards.map(look));
  }

  /** Unless the connection was lost meanwhile: the next one may lead to another server. */
  #add(redis: RedisClient, lost: ReadonlyMap<RedisClient, number>): void {
    if (redis.status === 'ready' && this.#lost.get(redis) === lost.get(redis)) this.#registered.add(redis);
  }

  get #listsKey(): string {
    return queueKey(this.#queueName, 'shard-lists');
  }

  get #list(): string {
    return this.#shards
      .map(({ label }) => label)
      .toSorted()
      .join(' ');
  }
}

/**
 * The id of a Redis, made at its first use. It belongs to the data: a Redis that lost its data is
 * another shard.
 */
async function shardId(redis: RedisClient, queueName: string): Promise<string> {
  const key = queueKey(queueName, 'shard-id');
  await redis.set(key, randomUUID(), 'NX');
  return String(await redis.get(key));
}

const inUseKey = (queueName: string): string => queueKey(queueName, 'shard-in-use');

/** A Redis as the registry knows it. */
export interface RegistryReading {
  /** Undefined for a Redis that was never one of several shards. */
  id: string | undefined;
  /** By id, the labels of the shards that it knows. */
  known: ReadonlyMap<string, string>;
  /** True from each registration on, for ten minutes. */
  inUse: boolean;
}

export async function readRegistry(redis: RedisClient, queueName: string): Promise<RegistryReading> {
  const [id, known, inUse] = await Promise.all([
    redis.get(queueKey(queueName, 'shard-id')),
    redis.hgetall(queueKey(queueName, 'shards')),
    redis.exists(inUseKey(queueName)),
  ]);
  return { id: id ?? undefined, known: new Map(Object.entries(known)), inUse: inUse === 1 };
}

/** Removes shards that have no events and get no more. All shards must be available. */
export async function retireShards(
  shards: readonly RedisClient[],
  queueName: string,
  ids: readonly string[],
): Promise<void> {
  // First the lists: a pod that starts must then register in all shards.
  await Promise.all(shards.map((redis) => redis.del(queueKey(queueName, 'shard-lists'))));
  await Promise.all(shards.map((redis) => redis.hdel(queueKey(queueName, 'shards'), ...ids)));
}
