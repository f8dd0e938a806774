import { setTimeout as sleep } from 'node:timers/promises';
import { createRedisBackend, type BackendFactory, type RedisQueueBackend } from 'bullmq';

/** What BullMQ takes for the sign that a job may be there. */
const lookNow = { member: '0', score: 0 };

/**
 * BullMQ's backend of a worker, except that it lets jobs gather: when jobs were taken since the
 * last wait, the next look comes `fetchCooldownMs` later and not with the next job. Woken for each
 * job, a worker makes Redis write to its disk three times more for it: when it takes it, takes away
 * the marker that this has left, and finishes it (test/bench/README.md). When one look, or two
 * after several jobs at once, have found nothing, it is quiet: the next job is taken at once.
 * Workers do not know of each other: while one lets jobs gather, another that waits takes them.
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
