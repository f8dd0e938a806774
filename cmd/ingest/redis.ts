import { ConfigError, type Config } from '../../internal/config/read.ts';
import type { RedisAddress } from '../../internal/queue/redis.ts';

/** The settings that lead to Redis. */
export const redisSettings = [
  'REDIS_URL',
  'REDIS_USERNAME',
  'REDIS_PASSWORD',
  'REDIS_SENTINELS',
  'REDIS_SENTINEL_USERNAME',
  'REDIS_SENTINEL_PASSWORD',
] as const;

/** The settings of a process that reads all shards. */
export const readerRedisSettings = [...redisSettings, 'REDIS_DRAIN_URL'] as const;

type RedisConfig = Config<(typeof redisSettings)[number]>;

/** The port of a Sentinel that has no other. */
const sentinelPort = 26_379;

/**
 * The shards that take events: one unless `REDIS_URL` has several.
 * @throws {ConfigError} when an address cannot be the name of a master.
 */
export function redisAddresses(config: RedisConfig): RedisAddress[] {
  return config.REDIS_URL.map((url) => withSentinels(url, config));
}

/** The former shards, which take no events. */
export function drainedAddresses(config: Config<(typeof readerRedisSettings)[number]>): RedisAddress[] {
  if (config.REDIS_DRAIN_URL.some((url) => config.REDIS_URL.includes(url))) {
    throw new ConfigError('REDIS_DRAIN_URL must not name a Redis of REDIS_URL');
  }
  return config.REDIS_DRAIN_URL.map((url) => withSentinels(url, config));
}

function withSentinels(url: string, config: RedisConfig): RedisAddress {
  const { REDIS_SENTINELS: sentinels } = config;
  if (sentinels.length === 0) return url;
  if (url.startsWith('/') || url.includes(',')) {
    throw new ConfigError('REDIS_URL must have the name of the master as its only host, since REDIS_SENTINELS is set');
  }
  const nodes = sentinels.map(({ hostname, port }) => ({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || sentinelPort),
  }));
  return { url, nodes, username: config.REDIS_SENTINEL_USERNAME, password: config.REDIS_SENTINEL_PASSWORD };
}
