import { setTimeout as sleep } from 'node:timers/promises';
import type { BackendFactory, RedisQueueBackend } from 'bullmq';
import { queueKey } from '../keys/keys.ts';
import type { RedisClient } from '../redis.ts';

/** How long a worker holds a job that is due by its own clock, in ms: it takes it again at once. */
const holdMs = 1_000;

const script = `
local time = redis.call('TIME')
return time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * BullMQ's backend whose delays begin at the time of Redis. BullMQ takes that of the worker: one
 * whose clock is a year ahead would keep a job from all others for a year.
 */
export function redisDelays(
  redis: RedisClient,
  queueName: string,
  create: BackendFactory<RedisQueueBackend>,
): BackendFactory<RedisQueueBackend> {
  return (...args) => {
    const backend = create(...args);
    const moveToDelayed = backend.moveToDelayed.bind(backend);
    backend.moveToDelayed = async (id, _ofWorker, delay, ...more) => {
      const now = Number(await redis.eval(script, 1, queueKey(queueName, 'meta')));
      // By such a clock this worker takes the job again at once.
      if (Date.now() >= now + delay) await sleep(holdMs);
      return moveToDelayed(id, now, delay, ...more);
    };
    return backend;
  };
}
