import type { Redis } from 'ioredis';
import { queueKey } from '../../../internal/queue/keys/keys.ts';

/** A copy of a full queue. */
export interface KeptQueue {
  /** Fills the queue, once it is empty, with the same jobs. */
  refill: () => Promise<void>;
  /** Deletes the copy. */
  forget: () => Promise<void>;
}

const copyOf = (key: string): string => `kept:${key}`;

/** Copies the queue within Redis: to fill it again through ingest takes longer than its drain. */
export async function keepQueue(redis: Redis): Promise<KeptQueue> {
  const keys = await redis.keys(`${queueKey('events', '')}*`);
  await copyAll(keys.map((key) => [key, copyOf(key)]));
  return {
    refill: () => copyAll(keys.map((key) => [copyOf(key), key])),
    forget: async () => void (await redis.unlink(keys.map(copyOf))),
  };

  async function copyAll(pairs: (readonly [string, string])[]): Promise<void> {
    while (pairs.length > 0) {
      const pipeline = redis.pipeline();
      for (const [from, to] of pairs.splice(0, 5_000)) pipeline.copy(from, to, 'REPLACE');
      await pipeline.exec();
    }
  }
}
