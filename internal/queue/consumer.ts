import { DelayedError, WaitingError, Worker, type Job, type WorkerOptions } from 'bullmq';
import { settledWithin } from '../async/settled-within.ts';
import type { AcceptedEvent } from '../event/event.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { ConsumerMetrics } from '../telemetry/worker-metrics.ts';
import { ConsumerConnections } from './consumer-connections.ts';
import { fetchCooldownBackend } from './fetch-cooldown.ts';
import { UnreadableJob } from './job.ts';
import { JobDecoder } from './job-decoder.ts';
import { keyPrefix, queueKey } from './keys.ts';
import { redisDelays } from './redis-delays.ts';
import type { RedisAddress } from './redis.ts';
import { shardsInside } from './shard-registry.ts';

/** Delay before an unreadable job is offered again, in ms: a newer worker may then take it. */
const unreadableMs = 30_000;

/**
 * Pause after Redis refuses a command (full, read-only, …), in ms. Without it BullMQ retries in a
 * hot loop.
 */
const restMs = 1_000;

/**
 * Redis counts as unhealthy for this long after it refused a command, in ms: longer than the pause
 * and the next try.
 */
const refusedMs = 10_000;

/**
 * Time that a stop gives BullMQ to return jobs and close, in ms, before the connections are cut.
 */
const closingMs = 2_000;

/**
 * Stores a batch. `redelivered`: an earlier worker took the job and returned it or died. Resolves
 * with `stored` once every event is safe, and BullMQ removes the job. With anything else, such as
 * `abandoned` when the process stops, the job returns to the queue.
 */
export type Handle = (events: AcceptedEvent[], redelivered: boolean) => Promise<unknown>;

export interface ConsumerOptions {
  redis: RedisAddress;
  queueName: string;
  /** Jobs under way at once. The batches of the store are made of their events. */
  concurrency: number;
  /** Cooldown after jobs were fetched, in ms; see {@link fetchCooldownBackend}. */
  fetchCooldownMs: number;
  /** Time until another worker takes the job of a dead worker, in ms, plus or minus a third. */
  lockMs: number;
  handle: Handle;
  /**
   * Settles every pending {@link Handle}. Called when the jobs under way take longer than `drainMs`
   * to stop.
   */
  abandon: () => void;
  drainMs: number;
  metrics: ConsumerMetrics;
  logger: Logger;
  /** Undefined when traces are off. */
  tracing?: Tracing | undefined;
}

/**
 * Takes jobs from the queue. BullMQ keeps the locks, renews them and recovers the jobs of dead
 * workers. The consumer retries a failed job for ever. It starts and stops with or without Redis.
 */
export class Consumer {
  readonly name = 'consumer';
  readonly #options: ConsumerOptions;
  readonly #decoder = new JobDecoder();
  readonly #handling = new Set<Promise<unknown>>();
  #running: { worker: Worker; connections: ConsumerConnections } | undefined;
  #rest: NodeJS.Timeout | undefined;
  #restart: NodeJS.Timeout | undefined;
  #refusedAt = -Infinity;
  #taken = 0;

  constructor(options: ConsumerOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    if (this.#running !== undefined) return;
    const { redis, queueName, metrics, logger } = this.#options;
    const connections = new ConsumerConnections(redis, queueName, metrics, logger);
    const worker = this.#createWorker(connections);
    this.#running = { worker, connections };
    this.#run(worker);
  }

  /**
   * Takes no more jobs. Finishes those under way, returns them to the queue, or leaves them to
   * recovery.
   */
  async stop(): Promise<void> {
    if (this.#running === undefined) return;
    const { worker, connections } = this.#running;
    this.#running = undefined;
    clearTimeout(this.#rest);
    clearTimeout(this.#restart);
    const closed = worker.close();
    await settledWithin(this.#options.drainMs, this.#allHandled());
    this.#options.abandon();
    await settledWithin(closingMs, closed);
    await connections.close();
    await closed;
    this.#decoder.close();
  }

  /**
   * Includes jobs that arrive while BullMQ closes: one returned during its statement would be
   * stored twice.
   */
  async #allHandled(): Promise<void> {
    while (this.#handling.size > 0) await Promise.allSettled(this.#handling);
  }

  /** Jobs that wait for a worker. Undefined while Redis is disconnected or refuses commands. */
  async waitingJobs(): Promise<number | undefined> {
    const main = this.#running?.connections.main;
    if (main?.status !== 'ready' || performance.now() - this.#refusedAt < refusedMs) return undefined;
    return main.llen(queueKey(this.#options.queueName, 'wait'));
  }

  /**
   * The numbers of the other shards inside this Redis, as its registry has them; undefined while
   * Redis is disconnected.
   */
  async otherShards(): Promise<number[] | undefined> {
    const main = this.#running?.connections.main;
    if (main?.status !== 'ready') return undefined;
    return shardsInside({ redis: main, queueName: this.#options.queueName });
  }

  #createWorker({ main }: ConsumerConnections): Worker {
    const { queueName, concurrency, fetchCooldownMs, lockMs, metrics, logger, tracing } = this.#options;
    const options: WorkerOptions = {
      connection: main,
      prefix: keyPrefix(queueName),
      concurrency,
      autorun: false,
      skipVersionCheck: true,
      lockDuration: lockMs,
      stalledInterval: Math.ceil(lockMs / 3),
      maxStalledCount: 1_000_000,
      runRetryDelay: 1_000,
      removeOnComplete: { count: 0 },
      ...(tracing && { telemetry: tracing.queue }),
    };
    const cooldown = fetchCooldownBackend(() => this.#taken, fetchCooldownMs);
    const backend = redisDelays(main, queueName, cooldown);
    const worker = new Worker(queueName, (job, token) => this.#process(job, token), options, backend);
    worker.on('error', (error) => this.#onError(worker, error));
    worker.on('failed', (job, error) => logger.error({ error, job: job?.id }, 'job failed and will be retried'));
    worker.on('stalled', (job) => {
      metrics.stalled.inc();
      logger.warn({ job }, 'job recovered from a worker that stopped renewing its lock');
    });
    return worker;
  }

  #run(worker: Worker): void {
    worker.run().catch((error: unknown) => {
      this.#options.logger.error({ error }, 'queue consumer ended, restarting it');
      this.#restart = setTimeout(() => this.#run(worker), restMs);
    });
  }

  /** The connections report their own loss and reconnect. */
  #onError(worker: Worker, error: Error): void {
    if (isConnectionError(error)) return;
    this.#options.logger.warn({ error }, 'queue consumer error');
    if (error.name !== 'ReplyError' || worker.isPaused() || this.#running === undefined) return;
    this.#refusedAt = performance.now();
    worker.pause(true).catch(() => undefined);
    this.#rest = setTimeout(() => void worker.resume().catch(() => undefined), restMs);
  }

  async #process(job: Job, token: string | undefined): Promise<void> {
    this.#taken += 1;
    const handled = this.#read(job, token).then((events) => this.#options.handle(events, job.attemptsStarted > 1));
    this.#handling.add(handled);
    const result = await handled.finally(() => this.#handling.delete(handled));
    if (result === 'stored') return;
    await job.moveToWait(token);
    throw new WaitingError();
  }

  async #read(job: Job, token: string | undefined): Promise<AcceptedEvent[]> {
    try {
      return await this.#decoder.decode(job.data);
    } catch (error) {
      if (!(error instanceof UnreadableJob)) throw error;
      this.#options.metrics.unreadable.inc();
      this.#options.logger.error({ error, job: job.id }, 'job cannot be read and is kept for another worker');
      await job.moveToDelayed(Date.now() + unreadableMs, token);
      throw new DelayedError();
    }
  }
}

/**
 * Socket errors name a system call. Errors that ioredis raises for commands of a lost connection do
 * not.
 */
function isConnectionError(error: Error): boolean {
  return 'syscall' in error || /Connection is closed|Socket timeout|connect ETIMEDOUT/.test(error.message);
}
