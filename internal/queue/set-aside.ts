import { UnrecoverableError } from 'bullmq';
import type { JobFault } from './consumer-metrics.ts';
import { commonQueue, queueKey } from './keys/keys.ts';
import type { RedisClient } from './redis.ts';

/** Longest time from the acceptance of an event until its job is added, with a margin, in ms. */
const commitMs = 10_000;

/**
 * A job that this worker must not store. BullMQ moves it to the failed jobs, where it stays until a
 * person decides (docs/operate/runbooks/RunledgerJobsSetAside.md).
 */
export class SetAside extends UnrecoverableError {
  override readonly name = 'SetAside';
  readonly fault: JobFault;

  constructor(fault: JobFault, message: string, options?: ErrorOptions) {
    super(message);
    this.fault = fault;
    if (options !== undefined) this.cause = options.cause;
  }
}

/**
 * Notes that the record lacks events accepted before a job was added (`addedAt`, ms since the Unix
 * epoch), so that no run is called missing because its events were set aside. Call it before the
 * job leaves the queue: until then the watermark waits for the job.
 */
export async function noteMissing(redis: RedisClient, queueName: string, addedAt: number): Promise<void> {
  await redis.rpush(queueKey(commonQueue(queueName), 'gaps'), `${addedAt - commitMs}-${addedAt}`);
}
