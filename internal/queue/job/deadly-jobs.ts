import type { Job } from 'bullmq';
import { setTimeout as sleep } from 'node:timers/promises';
import { queueKey } from '../keys/keys.ts';
import type { RedisClient } from '../redis.ts';
import { SetAside } from '../set-aside.ts';

/**
 * Workers that died or froze with a job until it is taken alone, and those that did so while it was
 * alone until it is set aside. A job is innocent of most deaths: all jobs of a worker share them.
 */
const [aloneFrom, mostAlone] = [2, 2];

/** A job that kills a worker by its size does so within this time, in ms. */
const dangerMs = 10_000;

/** True for a job that was with several workers when they died. */
export function isSuspect(job: Job): boolean {
  return job.stalledCounter >= aloneFrom;
}

/**
 * Runs the work on a job that is alone, with a mark that it is. The mark goes with the job, or at
 * the end of the dangerous time, and stays if the worker dies before.
 * @throws {SetAside} without the work, when too many workers have died with it alone.
 */
export async function whileMarked<T>(
  redis: RedisClient,
  queueName: string,
  job: Job,
  work: () => Promise<T>,
): Promise<T> {
  const key = queueKey(queueName, String(job.id));
  if ((await redis.hincrby(key, 'alone', 1)) > mostAlone) {
    throw new SetAside('deadly', 'workers died with the job, also while it was alone');
  }
  const unmark = (): Promise<unknown> => redis.hdel(key, 'alone').catch(() => undefined);
  const ended = new AbortController();
  const later = sleep(dangerMs, undefined, { signal: ended.signal }).then(unmark);
  later.catch(() => undefined);
  try {
    return await work();
  } finally {
    ended.abort();
    await unmark();
  }
}
