import { Redis } from 'ioredis';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import { JobDecoder } from '../../internal/queue/job/job-decoder.ts';
import { queueKey } from '../../internal/queue/keys/keys.ts';
import type { Authentication } from '../../internal/cluster/tokens/token-source.ts';
import { startIngest, type RunningIngest } from './pipeline.ts';
import type { RedisServer } from './redis-server.ts';
import { emptyRedis } from './servers.ts';

export interface SuiteIngest {
  readonly ingest: RunningIngest;
  readonly redis: RedisServer;
  /** All that ingest has stored and no worker taken. */
  stored(): Promise<AcceptedEvent[]>;
}

/**
 * One ingest on the run's Redis for all tests of the suite it is called in; Redis is emptied before
 * each.
 */
export function suiteIngest(
  settings: () => Record<string, string> = () => ({}),
  authenticate?: (given: string) => Authentication,
): SuiteIngest {
  let redis: RedisServer;
  let ingest: RunningIngest;
  before(async () => {
    redis = await emptyRedis();
    ingest = await startIngest({ REDIS_URL: redis.url, ...settings() }, authenticate);
  });
  beforeEach(async () => {
    await redis.command('flushall');
  });
  afterEach(() => ingest.client.close());
  after(() => ingest.stop());
  return {
    get ingest() {
      return ingest;
    },
    get redis() {
      return redis;
    },
    stored: () => storedEvents(redis.url),
  };
}

/** The events of all waiting jobs of a queue, in order. */
export async function storedEvents(redisUrl: string, queue = 'events'): Promise<AcceptedEvent[]> {
  const redis = new Redis(redisUrl);
  const decoder = new JobDecoder();
  try {
    const ids = await redis.lrange(queueKey(queue, 'wait'), 0, -1);
    const jobs = await Promise.all(ids.toReversed().map((id) => redis.hget(queueKey(queue, id), 'data')));
    return (await Promise.all(jobs.map((data) => decoder.open(data ?? '').events()))).flat();
  } finally {
    decoder.close();
    redis.disconnect();
  }
}
