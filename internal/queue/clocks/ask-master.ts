import { queueKey } from '../keys/keys.ts';
import type { RedisClient } from '../redis.ts';

/**
 * Asks the server that holds a queue: Redis, or one master of a Redis Cluster. Resolves with the
 * reply to each command, or an Error where the server refuses it. Rejects while the server is
 * unavailable.
 */
export async function askMaster(
  redis: RedisClient,
  queueName: string,
  commands: readonly (readonly [name: string, ...args: string[]])[],
): Promise<unknown[]> {
  if (redis.status !== 'ready') throw new Error('Redis is not connected');
  // In a cluster, all commands of a pipeline go to the master of its keys.
  const pipeline = redis.pipeline().exists(queueKey(queueName, 'meta'));
  for (const [name, ...args] of commands) pipeline.call(name, ...args);
  const [found, ...replies] = (await pipeline.exec()) ?? [];
  // A server that does not hold the queue refuses this; the other replies are then not the
  // master's.
  if (found?.[0]) throw found[0];
  return replies.map(([error, value]) => {
    if (error !== null && error.name !== 'ReplyError') throw error;
    return error ?? value;
  });
}

/** A section of INFO from the server that holds a queue. Rejects while that is unavailable. */
export async function infoOf(redis: RedisClient, queueName: string, section: string): Promise<string> {
  const [info] = await askMaster(redis, queueName, [['info', section]]);
  if (info instanceof Error) throw info;
  return String(info);
}
