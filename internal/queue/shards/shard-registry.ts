import { randomUUID } from 'node:crypto';
import { Repeating } from '../../kit/async/repeating.ts';
import type { Logger } from '../../kit/telemetry/logger.ts';
import { hashTags } from '../keys/hash-tags.ts';
import { queueKey } from '../keys/keys.ts';
import type { RedisClient } from '../redis.ts';

/** Time between two registrations, in ms: an operator may have replaced a Redis. */
const repeatMs = 10_000;

/** The same while a shard is not registered, in ms. */
const retryMs = 500;

/** How long a shard counts as in use after a pod registered it, in ms. */
const inUseMs = 600_000;

/** A shard of the queue: a Redis, and the shard's queue in it. */
export interface ShardQueue {
  redis: RedisClient;
  queueName: string;
}

/** The label is for people: see {@link shardLabel}. */
export interface ShardConnection extends ShardQueue {
  label: string;
}

/**
 * The name of a shard for people and the registry: its address without user and password, and its
 * number inside that Redis.
 */
export function shardLabel(address: string, shard: number): string {
  return shard === 0 ? address : `${address}+shard-${shard}`;
}

/** The number of a shard inside its Redis; undefined if this release does not know such a shard. */
export function shardOfLabel(label: string): number | undefined {
  const shard = Number(/\+shard-(\d+)$/.exec(label)?.[1] ?? 0);
  return shard < hashTags.length ? shard : undefined;
}

/**
 * Registers all shards of the queue in each of them, before the first event goes to one. So a
 * controller that reads only some of them knows that the record is incomplete
 * (docs/design/shards.md).
 */
export class ShardRegistry {
  readonly name = 'shard registry';
  readonly #shards: readonly ShardConnection[];
  readonly #logger: Logger;
  readonly #registered = new Set<RedisClient>();
  /** Lost connections so far, to tell one connection from the next. */
  readonly #lost = new Map<RedisClient, number>();
  readonly #repeating = new Repeating(async () => {
    await this.registerAll();
    return this.#registered.size === this.#shards.length ? repeatMs : retryMs;
  });

  constructor(shards: readonly ShardConnection[], logger: Logger) {
    this.#shards = shards;
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

  /** Resolves after a first registration. An unavailable shard is no error. */
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
      const ids = await Promise.all(this.#shards.map(shardId));
      const entries = new Map(this.#shards.map(({ label }, index) => [ids[index] ?? '', label]));
      await this.#inAll((redis, key) => redis.hset(key('shards'), entries));
      await this.#inAll((redis, key) => redis.set(key(inUse), '', 'PX', inUseMs));
      await this.#inAll((redis, key) => redis.sadd(key(lists), this.#list));
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
    const look = async ({ redis, queueName }: ShardConnection): Promise<void> => {
      if ((await redis.sismember(queueKey(queueName, lists), this.#list)) === 1) this.#add(redis, lost);
    };
    await Promise.allSettled(this.#shards.map(look));
  }

  /** Skips a shard whose connection was lost: the next one may lead to another server. */
  #add(redis: RedisClient, lost: ReadonlyMap<RedisClient, number>): void {
    if (redis.status === 'ready' && this.#lost.get(redis) === lost.get(redis)) this.#registered.add(redis);
  }

  /** Runs a command in each shard, with the keys of that shard. */
  async #inAll(work: (redis: RedisClient, key: (part: string) => string) => Promise<unknown>): Promise<void> {
    const inOne = ({ redis, queueName }: ShardQueue) => work(redis, (part) => queueKey(queueName, part));
    await Promise.all(this.#shards.map(inOne));
  }

  get #list(): string {
    return this.#shards
      .map(({ label }) => label)
      .toSorted()
      .join(' ');
  }
}

/**
 * The id of a shard, created on first use. It belongs to the data: a Redis that lost its data is
 * another shard.
 */
async function shardId({ redis, queueName }: ShardQueue): Promise<string> {
  const key = queueKey(queueName, 'shard-id');
  await redis.set(key, randomUUID(), 'NX');
  return String(await redis.get(key));
}

/** Keys: the mark of a shard in use, and the lists that were registered everywhere. */
const inUse = 'shard-in-use';
const lists = 'shard-lists';

/** A shard as the registry knows it. */
export interface RegistryReading {
  /** Undefined for a Redis that was never one of several shards. */
  id: string | undefined;
  /** The labels of the shards that it knows, by id. */
  known: ReadonlyMap<string, string>;
  /** True for ten minutes after each registration. */
  inUse: boolean;
}

export async function readRegistry({ redis, queueName }: ShardQueue): Promise<RegistryReading> {
  const [id, known, used] = await Promise.all([
    redis.get(queueKey(queueName, 'shard-id')),
    redis.hgetall(queueKey(queueName, 'shards')),
    redis.exists(queueKey(queueName, inUse)),
  ]);
  return { id: id ?? undefined, known: new Map(Object.entries(known)), inUse: used === 1 };
}

/** Removes shards that have no events and get no more. All shards must be available. */
export async function retireShards(shards: readonly ShardQueue[], ids: readonly string[]): Promise<void> {
  // First the lists, so that a pod that starts must register in all shards.
  await Promise.all(shards.map(({ redis, queueName }) => redis.del(queueKey(queueName, lists))));
  await Promise.all(shards.map(({ redis, queueName }) => redis.hdel(queueKey(queueName, 'shards'), ...ids)));
}

/**
 * The numbers, except 0, of the shards that the registry of a Redis' shard 0 names. With several
 * Redis, some may be shards of another one.
 */
export async function shardsInside({ redis, queueName }: ShardQueue): Promise<number[]> {
  const labels = await redis.hvals(queueKey(queueName, 'shards'));
  return [...new Set(labels.flatMap((label) => shardOfLabel(label) || []))];
}
