import { queueKey } from './keys.ts';
import type { RedisClient } from './redis.ts';

/** A replica that has acknowledged nothing for longer, in seconds, does not count. Usual: 1. */
const silentSeconds = 5;

/**
 * Replicas that follow the master of the queue and answer it. Rejects while the master is
 * unavailable.
 */
export async function countReplicas(redis: RedisClient, queueName: string): Promise<number> {
  // In a cluster all commands of a pipeline go to the master of its keys.
  const pipeline = redis.pipeline().exists(queueKey(queueName, 'meta')).info('replication');
  const replies = (await pipeline.exec()) ?? [];
  for (const [error] of replies) if (error !== null) throw error;
  const lags = String(replies[1]?.[1]).matchAll(/^slave\d+:.*state=online.*lag=(\d+)/gm);
  return [...lags].filter(([, lag]) => Number(lag) <= silentSeconds).length;
}
