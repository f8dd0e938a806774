import type { Job } from 'bullmq';
import { setTimeout as sleep } from 'node:timers/promises';
import { queueKey } from '../keys/keys.ts';
import type { RedisClient } from '../redis.ts';
import { SetAside } from '../set-aside.ts';

/**
 * How many workers must die or freeze with a job before it runs alone, and how many more while it
 * is alone before it is set aside. A job is innocent of most deaths, since all jobs of a worker
 * share them.
 */
const [aloneFrom, mostAlone] = [2, 2];

/** A job that is large enough to kill a worker does so within this time, in ms. */
const dangerMs = 10_000;

/** True for a job that several workers held when they died. */
export function isSuspect(job: Job): boolean {
  return job.stalledCounter >= aloneFrom;
}

/**
 * Runs `work` on a job that runs alone, and marks the job meanwhile. The mark goes with the job or
 * after the dangerous time, and stays if the worker dies first.
 * @throws {SetAside} before the work, when too many workers have died with the job alone.
 */
export async function whileMarked<T>(
  redis: RedisClient,
  queueName: string,
  job: Job,
  work: () => Promise<T>,
): Promise<T> {
  const key = queueKey(queueName, String(job.id));
  if ((await redis.hincrby(key, 'alone', 1)) > mostAlone) {
    throw new SetAside('deadly', 'workers died with the job, even while it ran alone');
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
