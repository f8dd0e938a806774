import { Queue } from 'bullmq';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import { toRow, type JobData } from '../../internal/queue/job.ts';
import { keyPrefix, queueKey } from '../../internal/queue/keys.ts';
import { createConsumerRedis, disconnect } from '../../internal/queue/redis.ts';
import type { RedisServer } from './redis-server.ts';

/** Does something with the queue itself, past the producer and the consumer. */
export async function withQueue<T>(url: string, use: (queue: Queue) => Promise<T>): Promise<T> {
  const connection = createConsumerRedis(url);
  connection.on('error', () => undefined);
  const queue = new Queue('events', { connection, prefix: keyPrefix, defaultJobOptions: { attempts: 1_000_000 } });
  try {
    return await use(queue);
  } finally {
    await queue.close();
    await disconnect(connection);
  }
}

/** Job data as ingest writes it for events that do not shrink. */
export function plainJob(events: readonly AcceptedEvent[]): JobData {
  return { v: 1, rows: events.map(toRow) };
}

/** Jobs by state, asked of Redis itself. */
export async function jobCounts(redis: RedisServer): Promise<Record<'wait' | 'active' | 'delayed' | 'failed', number>> {
  const count = async (command: string, part: string): Promise<number> =>
    Number(await redis.command(command, queueKey('events', part)));
  return {
    wait: await count('llen', 'wait'),
    active: await count('llen', 'active'),
    delayed: await count('zcard', 'delayed'),
    failed: await count('zcard', 'failed'),
  };
}
