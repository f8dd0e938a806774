import { setTimeout as sleep } from 'node:timers/promises';
import { createRedisBackend, type BackendFactory, type RedisQueueBackend } from 'bullmq';
import { lookNow } from './bullmq-quirks.ts';

/**
 * BullMQ's backend with a cooldown: after a fetch that found jobs, the next one starts
 * `fetchCooldownMs` later. A worker that wakes for each job triples Redis' disk syncs
 * (test/bench/README.md). After an empty fetch the next job is taken immediately, and other waiting
 * workers take jobs during the cooldown.
 */
export function fetchCooldownBackend(
  jobsTaken: () => number,
  fetchCooldownMs: number,
): BackendFactory<RedisQueueBackend> {
  return (...args) => {
    const backend = createRedisBackend(...args);
    const waitForJob = backend.waitForJob.bind(backend);
    let takenBefore = 0;
    backend.waitForJob = async (blockTimeout) => {
      const taken = jobsTaken();
      if (taken === takenBefore) return waitForJob(blockTimeout);
      takenBefore = taken;
      await sleep(fetchCooldownMs);
      return lookNow;
    };
    return backend;
  };
}
