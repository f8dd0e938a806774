import { Queue } from 'bullmq';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import { checksumOf, jobVersion, toRow, type JobData } from '../../internal/queue/job/job.ts';
import { keyPrefix, queueKey } from '../../internal/queue/keys/keys.ts';
import { disconnect } from '../../internal/queue/ioredis-quirks.ts';
import { createConsumerRedis } from '../../internal/queue/redis.ts';
import type { RedisServer } from './redis-server.ts';

/** Does something with a queue itself, past the producer and the consumer. */
export async function withQueue<T>(url: string, use: (queue: Queue) => Promise<T>, name = 'events'): Promise<T> {
  const connection = createConsumerRedis(url);
  connection.on('error', () => undefined);
  const queue = new Queue(name, { connection, prefix: keyPrefix(name), defaultJobOptions: { attempts: 1_000_000 } });
  try {
    return await use(queue);
  } finally {
    await queue.close();
    await disconnect(connection);
  }
}

/** Job data as ingest writes it for events that do not shrink. */
export function plainJob(events: readonly AcceptedEvent[]): JobData {
  const rows = events.map(toRow);
  return { v: jobVersion, sum: checksumOf(JSON.stringify(rows)), rows };
}

/** Jobs by state, asked of Redis itself. */
export async function jobCounts(redis: RedisServer): Promise<Record<'wait' | 'active' | 'delayed' | 'failed', number>> {
  const key = (part: string): string => queueKey('events', part);
  return redis.use(async (redis) => {
    const lists = [redis.llen(key('wait')), redis.llen(key('active'))];
    const sets = [redis.zcard(key('delayed')), redis.zcard(key('failed'))];
    const [wait = 0, active = 0, delayed = 0, failed = 0] = await Promise.all([...lists, ...sets]);
    return { wait, active, delayed, failed };
  });
}
