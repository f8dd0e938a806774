import { Queue } from 'bullmq';
import type { Logger } from '../kit/telemetry/logger.ts';
import type { Tracing } from '../kit/telemetry/tracing.ts';
import { addingBackend } from './adding.ts';
import type { JobData } from './job/job.ts';
import { keyPrefix } from './keys/keys.ts';
import type { RedisClient } from './redis.ts';
import { acknowledgedBackend } from './shards/replica-acks.ts';

/** BullMQ gives up on a job after this many failures. Runledger never does; see the consumer. */
const neverGiveUp = { attempts: 1_000_000, backoff: { type: 'fixed', delay: 5_000 } };

export interface QueueConnectionOptions {
  redis: RedisClient;
  queueName: string;
  /** Replicas that acknowledge a job before it counts as added; 0 for none. */
  replicaAcks: number;
  logger: Logger;
  /** Undefined when traces are off. */
  tracing?: Tracing | undefined;
}

/** The queue for new jobs, opened on first use. The caller closes the Redis client. */
export class QueueConnection {
  readonly #options: QueueConnectionOptions;
  #queue: Promise<Queue<JobData>> | undefined;

  constructor(options: QueueConnectionOptions) {
    this.#options = options;
  }

  get redis(): RedisClient {
    return this.#options.redis;
  }

  /**
   * Opens the queue. After a failed first contact a BullMQ queue never recovers, so the next call
   * creates another.
   * @throws when Redis is not connected or does not answer.
   */
  open(): Promise<Queue<JobData>> {
    this.#queue ??= this.#create().catch((error: unknown) => {
      this.#queue = undefined;
      throw error;
    });
    return this.#queue;
  }

  async close(): Promise<void> {
    const queue = await this.#queue?.catch(() => undefined);
    this.#queue = undefined;
    await queue?.close().catch(() => undefined);
  }

  async #create(): Promise<Queue<JobData>> {
    const { redis, queueName, replicaAcks, logger, tracing } = this.#options;
    if (redis.status !== 'ready') throw new Error('redis is not connected');
    const options = {
      connection: redis,
      prefix: keyPrefix(queueName),
      skipVersionCheck: true,
      defaultJobOptions: { ...neverGiveUp, removeOnComplete: true },
      streams: { events: { maxLen: 100 } },
      ...(tracing && { telemetry: tracing.queue }),
    };
    const backend = replicaAcks > 0 ? acknowledgedBackend(redis, queueName, replicaAcks) : addingBackend(redis);
    const queue: Queue<JobData> = new Queue(queueName, options, backend);
    queue.on('error', (error) => logger.debug({ error }, 'queue connection error'));
    await queue.waitUntilReady();
    return queue;
  }
}
