import { infoOf } from '../clocks/ask-master.ts';
import { overflowQueue, queueKey } from '../keys/keys.ts';
import type { RedisClient } from '../redis.ts';

/** The content of Redis at one moment. */
export interface Backlog {
  /** Jobs by state: batches of events. */
  waiting: number;
  active: number;
  delayed: number;
  /** Jobs that workers have set aside, including those of the overflow lane. */
  failed: number;
  /** Jobs of the overflow lane, in any state. */
  overflow: number;
  /** Memory that the server uses, as a share of `maxmemory`; 0 if Redis has no limit. */
  memoryShare: number;
}

/** Reads the backlog in one round trip. */
export async function readBacklog(redis: RedisClient, queueName: string): Promise<Backlog> {
  const lane = overflowQueue(queueName);
  const [waiting, active, delayed, failed, laneWaiting, laneActive, laneDelayed, laneFailed, memory] =
    await Promise.all([
      redis.llen(queueKey(queueName, 'wait')),
      redis.llen(queueKey(queueName, 'active')),
      redis.zcard(queueKey(queueName, 'delayed')),
      redis.zcard(queueKey(queueName, 'failed')),
      redis.llen(queueKey(lane, 'wait')),
      redis.llen(queueKey(lane, 'active')),
      redis.zcard(queueKey(lane, 'delayed')),
      redis.zcard(queueKey(lane, 'failed')),
      infoOf(redis, queueName, 'memory'),
    ]);
  const overflow = laneWaiting + laneActive + laneDelayed;
  return { waiting, active, delayed, failed: failed + laneFailed, overflow, memoryShare: memoryShareOf(memory) };
}

/**
 * True when the server of a queue is a replica, so that new events would be lost. Rejects while it
 * is unavailable.
 */
export async function isReplica(redis: RedisClient, queueName: string): Promise<boolean> {
  return /^role:slave/m.test(await infoOf(redis, queueName, 'replication'));
}

/** True for a Redis Sentinel, which holds no data. Rejects while it is unavailable. */
export async function isSentinel(redis: RedisClient): Promise<boolean> {
  return (await redis.info('server')).includes('redis_mode:sentinel');
}

function memoryShareOf(info: string): number {
  const figure = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
  const limit = figure('maxmemory');
  return limit === 0 ? 0 : figure('used_memory') / limit;
}
