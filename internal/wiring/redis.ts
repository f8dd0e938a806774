import { ConfigError, type Config } from '../config/read.ts';
import { shardQueue } from '../queue/keys/keys.ts';
import { labelOf, type RedisAddress } from '../queue/redis.ts';
import { shardLabel } from '../queue/shards/shard-registry.ts';

/** The settings that lead to Redis. */
export const redisSettings = [
  'REDIS_URL',
  'QUEUE_SHARDS',
  'REDIS_USERNAME',
  'REDIS_PASSWORD',
  'REDIS_SENTINELS',
  'REDIS_SENTINEL_USERNAME',
  'REDIS_SENTINEL_PASSWORD',
] as const;

/** The settings of a process that reads all shards. */
export const readerRedisSettings = [...redisSettings, 'REDIS_DRAIN_URL'] as const;

/** The settings of idempotency keys. */
export const keySettings = ['IDEMPOTENCY_HOURS'] as const;

type RedisConfig = Config<(typeof redisSettings)[number]>;

/** The default port of a Sentinel. */
const sentinelPort = 26_379;

/** A shard of the queue: its Redis, its queue there, and its name for people. */
export interface ShardAddress {
  address: RedisAddress;
  queueName: string;
  label: string;
}

/**
 * The shards that take events: `QUEUE_SHARDS` inside each Redis of `REDIS_URL`. Neighbours are in
 * different Redis: a pod that leaves a shard goes to another Redis first.
 */
export function takingShards(config: RedisConfig & Config<'QUEUE_NAME'>): ShardAddress[] {
  const { QUEUE_NAME: queueName, QUEUE_SHARDS: length } = config;
  const addresses = redisAddresses(config);
  return Array.from({ length }, (_, shard) => shard).flatMap((shard) =>
    addresses.map((address) => ({
      address,
      queueName: shardQueue(queueName, shard),
      label: shardLabel(labelOf(address), shard),
    })),
  );
}

/** The Redis instances that take events: one unless `REDIS_URL` has several. */
export function redisAddresses(config: RedisConfig): RedisAddress[] {
  return config.REDIS_URL.map((url) => withSentinels(url, config));
}

/** The former Redis instances, which take no events. */
export function drainedAddresses(config: Config<(typeof readerRedisSettings)[number]>): RedisAddress[] {
  if (config.REDIS_DRAIN_URL.some((url) => config.REDIS_URL.includes(url))) {
    throw new ConfigError('REDIS_DRAIN_URL must not name a Redis of REDIS_URL');
  }
  return config.REDIS_DRAIN_URL.map((url) => withSentinels(url, config));
}

/**
 * The former Redis instances as shards of the queue. The registry in each names its further shards.
 */
export function drainedShards(config: Config<(typeof readerRedisSettings)[number] | 'QUEUE_NAME'>): ShardAddress[] {
  const { QUEUE_NAME: queueName } = config;
  return drainedAddresses(config).map((address) => ({ address, queueName, label: labelOf(address) }));
}

/** The Sentinels know a master by a name without a port. Any other Redis may be beside them. */
function withSentinels(url: string, config: RedisConfig): RedisAddress {
  const { REDIS_SENTINELS: sentinels } = config;
  const isName = !url.startsWith('/') && !url.includes(',') && new URL(url).port === '';
  if (sentinels.length === 0 || !isName) return url;
  const nodes = sentinels.map(({ hostname, port }) => ({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || sentinelPort),
  }));
  return { url, nodes, username: config.REDIS_SENTINEL_USERNAME, password: config.REDIS_SENTINEL_PASSWORD };
}
