import type { AcceptedEvent } from '../event/event.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { encodeJob } from './job-encoder.ts';
import { queueKey } from './keys.ts';
import { QueueConnection } from './queue-connection.ts';
import { jobName } from './queue-stats.ts';
import { connect, createProducerRedis, disconnect, type RedisAddress, type RedisClient } from './redis.ts';

export interface AsideQueuesOptions {
  /** The shards that take events. */
  shards: readonly RedisAddress[];
  logger: Logger;
  tracing?: Tracing | undefined;
}

/**
 * The queues of events that wait beside the common queue, in the first shard that works. A job that
 * a replica has lost in a failover is no loss: the replica then still has the job that these events
 * came from.
 */
export class AsideQueues {
  readonly name = 'queues of waiting events';
  readonly #options: AsideQueuesOptions;
  readonly #shards: readonly { redis: RedisClient; queues: Map<string, QueueConnection> }[];

  constructor(options: AsideQueuesOptions) {
    this.#options = options;
    this.#shards = options.shards.map((address) => {
      const redis = createProducerRedis(address);
      redis.on('error', (error) => options.logger.debug({ error }, 'redis connection error'));
      return { redis, queues: new Map() };
    });
  }

  async start(): Promise<void> {
    await Promise.all(this.#shards.map(({ redis }) => connect(redis)));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#shards.flatMap(({ queues }) => Array.from(queues.values(), (queue) => queue.close())));
    await Promise.all(this.#shards.map(({ redis }) => disconnect(redis)));
  }

  /** Adds a job. Resolves once it is on disk; rejects when no shard takes it. */
  async add(queueName: string, events: AcceptedEvent[]): Promise<void> {
    let failure: unknown;
    for (const shard of this.#shards) {
      try {
        const queue = await this.#open(shard, queueName).open();
        await queue.add(jobName(events.length), encodeJob(events));
        return;
      } catch (error) {
        // It may have the job all the same: Postgres skips events that it has.
        failure = error;
      }
    }
    throw failure;
  }

  #open(
    { redis, queues }: { redis: RedisClient; queues: Map<string, QueueConnection> },
    queueName: string,
  ): QueueConnection {
    const { logger, tracing } = this.#options;
    const queue = queues.get(queueName) ?? new QueueConnection({ redis, queueName, replicaAcks: 0, logger, tracing });
    queues.set(queueName, queue);
    return queue;
  }
}

/**
 * Jobs in a queue that are not done: waiting, active or delayed. Read at once, so that none is
 * missed while it changes lists. Rejects while Redis is unavailable.
 */
export async function countJobs(redis: RedisClient, queueName: string): Promise<number> {
  const key = (part: string): string => queueKey(queueName, part);
  const script = `return redis.call('LLEN', KEYS[1]) + redis.call('LLEN', KEYS[2]) + redis.call('ZCARD', KEYS[3])`;
  return Number(await redis.eval(script, 3, key('wait'), key('active'), key('delayed')));
}
