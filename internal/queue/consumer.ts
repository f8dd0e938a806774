import { DelayedError, WaitingError, Worker, type Job, type WorkerOptions } from 'bullmq';
import { settledWithin } from '../kit/async/settled-within.ts';
import type { Logger } from '../kit/telemetry/logger.ts';
import type { Tracing } from '../kit/telemetry/tracing.ts';
import type { ConsumerMetrics } from './consumer-metrics.ts';
import { ConsumerConnections } from './consumer-connections.ts';
import { fetchCooldownBackend } from './fetch-cooldown.ts';
import { isConnectionError } from './ioredis-quirks.ts';
import { FetchedTexts } from './job/fetched-texts.ts';
import { UnknownFormat } from './job/job.ts';
import { JobDecoder } from './job/job-decoder.ts';
import { JobHandling, type Handle } from './job/job-handling.ts';
import { keyPrefix, queueKey } from './keys/keys.ts';
import { redisDelays } from './clocks/redis-delays.ts';
import type { RedisAddress } from './redis.ts';
import type { Room } from './admission/room.ts';
import { SetAside } from './set-aside.ts';
import { shardsInside } from './shards/shard-registry.ts';

/** Most bytes of fetched job texts that wait for their turn. */
const fetchedBytes = 16 * 1_024 * 1_024;

/**
 * Delay before a job that must wait is offered again, in ms. It doubles: during a deploy a newer
 * worker takes its job soon, and without one such jobs cost little.
 */
const [firstDelayMs, longestDelayMs] = [1_000, 30_000];

/** Time between two log records about jobs that must wait, in ms. */
const tellMs = 60_000;

/**
 * Pause after Redis refuses a command (full, read-only, …), in ms. Without it BullMQ retries in a
 * hot loop.
 */
const restMs = 1_000;

/**
 * How long Redis counts as unhealthy after it refused a command, in ms: longer than the pause and
 * the next attempt.
 */
const refusedMs = 10_000;

/** How long a stop gives BullMQ to return jobs and close, in ms, before it cuts the connections. */
const closingMs = 2_000;

export interface ConsumerOptions {
  redis: RedisAddress;
  queueName: string;
  /** Concurrent jobs. Their events form the batches of the store. */
  concurrency: number;
  /** Memory for the events of the jobs. */
  room: Room;
  /** Cooldown after a fetch that found jobs, in ms; see {@link fetchCooldownBackend}. */
  fetchCooldownMs: number;
  /** Time until another worker takes over the job of a dead one, in ms, plus or minus a third. */
  lockMs: number;
  handle: Handle;
  /**
   * Settles every pending {@link Handle}. Called when the running jobs take longer than `drainMs`
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
 * Takes jobs from the queue. BullMQ holds and renews the locks, and recovers the jobs of dead
 * workers. The consumer retries failed jobs forever. It starts and stops with or without Redis.
 */
export class Consumer {
  readonly name = 'consumer';
  readonly #options: ConsumerOptions;
  readonly #decoder = new JobDecoder();
  readonly #handling = new Set<Promise<unknown>>();
  #running: { worker: Worker; connections: ConsumerConnections; texts: FetchedTexts } | undefined;
  #stopping = new AbortController();
  #rest: NodeJS.Timeout | undefined;
  #restart: NodeJS.Timeout | undefined;
  #refusedAt = -Infinity;
  #taken = 0;
  #delayed = 0;
  #toldAt = -Infinity;

  constructor(options: ConsumerOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    if (this.#running !== undefined) return;
    const { redis, queueName, metrics, logger } = this.#options;
    const connections = new ConsumerConnections(redis, queueName, metrics, logger);
    const texts = new FetchedTexts(fetchedBytes);
    this.#stopping = new AbortController();
    const worker = this.#createWorker(connections, texts);
    this.#running = { worker, connections, texts };
    this.#run(worker);
  }

  /**
   * Takes no more jobs. Finishes the running ones, returns them to the queue, or leaves them to
   * recovery.
   */
  async stop(): Promise<void> {
    if (this.#running === undefined) return;
    const { worker, connections, texts } = this.#running;
    this.#running = undefined;
    clearTimeout(this.#rest);
    clearTimeout(this.#restart);
    const closed = worker.close();
    texts.close();
    await settledWithin(this.#options.drainMs, this.#allHandled());
    this.#stopping.abort();
    this.#options.abandon();
    await settledWithin(closingMs, closed);
    await connections.close();
    await closed;
    this.#decoder.close();
  }

  /**
   * Includes jobs that arrive while BullMQ closes: a job returned during its statement would be
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

  /** How often a job was made to wait: progress, though nothing is stored. */
  get delayed(): number {
    return this.#delayed;
  }

  /**
   * The numbers of the other shards inside this Redis, from its registry; undefined while Redis is
   * disconnected.
   */
  async otherShards(): Promise<number[] | undefined> {
    const main = this.#running?.connections.main;
    if (main?.status !== 'ready') return undefined;
    return shardsInside({ redis: main, queueName: this.#options.queueName });
  }

  #createWorker({ main }: ConsumerConnections, texts: FetchedTexts): Worker {
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
    const fetching = texts.backend(fetchCooldownBackend(() => this.#taken, fetchCooldownMs));
    const backend = redisDelays(main, queueName, fetching);
    const { handle, room } = this.#options;
    const { signal } = this.#stopping;
    const handling = new JobHandling({ redis: main, queueName, texts, decoder: this.#decoder, room, handle, signal });
    const worker = new Worker(queueName, (job, token) => this.#process(handling, job, token), options, backend);
    worker.on('error', (error) => this.#onError(worker, error));
    worker.on('failed', (job, error) => {
      if (!(error instanceof SetAside)) return logger.error({ error, job: job?.id }, 'job failed and will be retried');
      metrics.setAside.inc({ reason: error.fault });
      logger.error({ error, job: job?.id, queue: queueName }, 'job set aside: its events are not stored');
    });
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

  async #process(handling: JobHandling, job: Job, token: string | undefined): Promise<void> {
    this.#taken += 1;
    const handled = handling.handle(job);
    this.#handling.add(handled);
    const result = await handled.finally(() => this.#handling.delete(handled));
    if (result === 'stored') return;
    if (result instanceof SetAside) throw result;
    if (result instanceof UnknownFormat) {
      this.#options.metrics.unreadable.inc();
      return this.#delay(job, token, 'jobs wait for a worker of a newer release', result);
    }
    if (result === 'postponed') return this.#delay(job, token, 'jobs wait until the archive answers');
    await job.moveToWait(token);
    throw new WaitingError();
  }

  /** Offers a job again later. This is not a failed attempt. */
  async #delay(job: Job, token: string | undefined, reason: string, error?: UnknownFormat): Promise<never> {
    this.#delayed += 1;
    if (performance.now() - this.#toldAt >= tellMs) {
      this.#toldAt = performance.now();
      this.#options.logger.error({ error, job: job.id, jobs: this.#delayed }, reason);
    }
    const delay = Math.min(longestDelayMs, firstDelayMs * 2 ** (job.attemptsStarted - 1));
    await job.moveToDelayed(Date.now() + delay, token);
    throw new DelayedError();
  }
}
