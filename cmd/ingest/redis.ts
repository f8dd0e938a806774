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

/** The port of a Sentinel that has no other. */
const sentinelPort = 26_379;

/** @throws {ConfigError} when the address cannot be the name of a master. */
export function redisAddress(config: Config<(typeof redisSettings)[number]>): RedisAddress {
  const { REDIS_URL: url, REDIS_SENTINELS: sentinels } = config;
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
