import { setTimeout as sleep } from 'node:timers/promises';
import type { BackendFactory, RedisQueueBackend } from 'bullmq';
import { queueKey } from '../keys/keys.ts';
import type { RedisClient } from '../redis.ts';

/** How long a worker holds a job that its own clock would make due immediately, in ms. */
const holdMs = 1_000;

const script = `
local time = redis.call('TIME')
return time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * BullMQ's backend with delays that start at the time of Redis. BullMQ uses the worker's clock: a
 * worker a year ahead would withhold a job from all others for a year.
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
      // With such a clock this worker would take the job again immediately.
      if (Date.now() >= now + delay) await sleep(holdMs);
      return moveToDelayed(id, now, delay, ...more);
    };
    return backend;
  };
}
