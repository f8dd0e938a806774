import { infoOf } from '../clocks/ask-master.ts';
import type { RedisClient } from '../redis.ts';

/** A replica that has acknowledged nothing for longer, in seconds, does not count. Usual: 1. */
const silentSeconds = 5;

/**
 * Counts the replicas that follow the queue's master and answer it. Rejects while the master is
 * unavailable.
 */
export async function countReplicas(redis: RedisClient, queueName: string): Promise<number> {
  const lags = (await infoOf(redis, queueName, 'replication')).matchAll(/^slave\d+:.*state=online.*lag=(\d+)/gm);
  return [...lags].filter(([, lag]) => Number(lag) <= silentSeconds).length;
}
