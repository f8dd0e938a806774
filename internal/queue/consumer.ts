import { DelayedError, WaitingError, Worker, type Job } from 'bullmq';
import type { AcceptedEvent } from '../event/event.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { ConsumerMetrics } from '../telemetry/worker-metrics.ts';
import { decodeJob, UnreadableJob } from './job.ts';
import { keyPrefix } from './keys.ts';
import type { RedisClient } from './redis.ts';

/** Until an unreadable job is looked at again, in ms: by then a newer worker may have taken it. */
const unreadableDelay = 30_000;

/**
 * Stores a batch. `stored`: every event of it is safe, the job is forgotten. `abandoned`: the process stops before
 * that, the job goes back to the queue.
 */
export type Handle = (events: AcceptedEvent[]) => Promise<'stored' | 'abandoned'>;

export interface ConsumerOptions {
  redis: RedisClient;
  queueName: string;
  /** Jobs taken at once. The store's batches are made of what they hold. */
  concurrency: number;
  handle: Handle;
  /** Makes every pending {@link Handle} settle: called when the jobs under way take longer than `drainMs` to stop. */
  abandon: () => void;
  drainMs: number;
  metrics: ConsumerMetrics;
  logger: Logger;
}

/**
 * Takes jobs from the queue. Locks, their renewal and the recovery of jobs whose worker died are BullMQ's. No job is
 * ever given up: what fails is tried again.
 */
export class Consumer {
  readonly name = 'consumer';
  readonly #options: ConsumerOptions;
  #worker: Worker | undefined;

  constructor(options: ConsumerOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    if (this.#worker !== undefined) return;
    const { redis, queueName, concurrency, logger } = this.#options;
    const worker = new Worker(queueName, (job, token) => this.#process(job, token), {
      connection: redis,
      prefix: keyPrefix,
      concurrency,
      autorun: false,
      skipVersionCheck: true,
      maxStalledCount: 1_000_000,
      stalledInterval: 15_000,
      runRetryDelay: 1_000,
      removeOnComplete: { count: 0 },
    });
    worker.on('error', (error) => logger.warn({ error }, 'queue consumer error'));
    worker.on('failed', (job, error) => logger.error({ error, job: job?.id }, 'job failed and will be retried'));
    worker.on('stalled', (job) => {
      this.#options.metrics.stalled.inc();
      logger.warn({ job }, 'job recovered from a worker that stopped renewing its lock');
    });
    this.#worker = worker;
    worker.run().catch((error: unknown) => logger.error({ error }, 'queue consumer ended'));
  }

  /** Takes no more jobs and finishes those under way, or gives them back. The Redis client is the caller's to close. */
  async stop(): Promise<void> {
    const { abandon, drainMs } = this.#options;
    const timer = setTimeout(abandon, drainMs);
    await this.#worker?.close();
    clearTimeout(timer);
    this.#worker = undefined;
  }

  async #process(job: Job, token: string | undefined): Promise<void> {
    const events = await this.#read(job, token);
    const fate = await this.#options.handle(events);
    if (fate === 'stored') return;
    await job.moveToWait(token);
    throw new WaitingError();
  }

  async #read(job: Job, token: string | undefined): Promise<AcceptedEvent[]> {
    try {
      return decodeJob(job.data);
    } catch (error) {
      if (!(error instanceof UnreadableJob)) throw error;
      this.#options.metrics.unreadable.inc();
      this.#options.logger.error({ error, job: job.id }, 'job cannot be read and is kept for another worker');
      await job.moveToDelayed(Date.now() + unreadableDelay, token);
      throw new DelayedError();
    }
  }
}
