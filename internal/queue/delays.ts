import type { BackendFactory, RedisQueueBackend } from 'bullmq';
import type { RedisClient } from './redis.ts';

/**
 * The backend of `make`, which delays jobs by the clock of Redis. BullMQ takes that of its process:
 * one that is a year ahead would hide a job from all workers for a year.
 */
export function delaysByRedis(
  redis: RedisClient,
  make: BackendFactory<RedisQueueBackend>,
): BackendFactory<RedisQueueBackend> {
  return (...args) => {
    const backend = make(...args);
    const moveToDelayed = backend.moveToDelayed.bind(backend);
    backend.moveToDelayed = async (jobId, _processTime, delay, token, options) => {
      const [seconds, micros] = await redis.time();
      const now = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
      return moveToDelayed(jobId, now, delay, token, options);
    };
    return backend;
  };
}
