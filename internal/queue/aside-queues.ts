import type { AcceptedEvent } from '../event/event.ts';
import type { Logger } from '../kit/telemetry/logger.ts';
import type { BacklogMetrics } from './queue-metrics.ts';
import type { Tracing } from '../kit/telemetry/tracing.ts';
import type { AdmissionLimits } from './admission/admission-control.ts';
import { BacklogGuard } from './admission/backlog-guard.ts';
import { encodeJob } from './job/job-encoder.ts';
import { queueKey } from './keys/keys.ts';
import { QueueConnection } from './queue-connection.ts';
import { jobName } from './queue-stats.ts';
import { disconnect } from './ioredis-quirks.ts';
import { createProducerRedis, type RedisAddress, type RedisClient } from './redis.ts';

/** What ingest requires of Redis before a 201; see {@link AdmissionLimits}. */
export type Durability = Pick<AdmissionLimits, 'requireDurable' | 'replicaAcks'>;

export interface AsideQueuesOptions {
  /** The shards that take events. */
  shards: readonly RedisAddress[];
  /** The common queue. */
  queueName: string;
  durability: Durability;
  metrics: BacklogMetrics;
  logger: Logger;
  tracing?: Tracing | undefined;
}

interface Shard {
  redis: RedisClient;
  guard: BacklogGuard;
  queues: Map<string, QueueConnection>;
}

/**
 * The queues of events that wait beside the common queue, in the first shard that works. Their
 * original job ends once they are here, so they must be as durable as the commit that acknowledged
 * them. A shard needs the settings and replicas that ingest requires.
 */
export class AsideQueues {
  readonly name = 'queues of waiting events';
  readonly #options: AsideQueuesOptions;
  readonly #shards: readonly Shard[];

  constructor(options: AsideQueuesOptions) {
    this.#options = options;
    const { queueName, durability, metrics } = options;
    const logger = options.logger.child({ part: this.name });
    // A full Redis is no reason to refuse, since the original job holds the same events there.
    const limits = { ...durability, maxJobs: Infinity, maxMemoryShare: Infinity, overflowShare: 1, intervalMs: 500 };
    this.#shards = options.shards.map((address) => {
      const redis = createProducerRedis(address);
      redis.on('error', (error) => logger.debug({ error }, 'redis connection error'));
      return { redis, guard: new BacklogGuard(redis, queueName, limits, metrics, logger), queues: new Map() };
    });
  }

  async start(): Promise<void> {
    await Promise.all(this.#shards.map(({ guard }) => guard.start()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#shards.map(({ guard }) => guard.stop()));
    await Promise.all(this.#shards.flatMap(({ queues }) => Array.from(queues.values(), (queue) => queue.close())));
    await Promise.all(this.#shards.map(({ redis }) => disconnect(redis)));
  }

  /**
   * Adds a job. Resolves once it is on disk, here and at the replicas that REDIS_ACKS requires.
   * Rejects when no shard takes it.
   */
  async add(queueName: string, events: AcceptedEvent[]): Promise<void> {
    let failure: unknown;
    for (const shard of this.#shards) {
      try {
        const { rejection } = shard.guard;
        if (rejection !== undefined) throw new Error(rejection.detail);
        const queue = await this.#open(shard, queueName).open();
        await queue.add(jobName(events.length), encodeJob(events));
        return;
      } catch (error) {
        // Redis may have the job nevertheless; Postgres skips events that it has.
        failure = error;
      }
    }
    throw failure;
  }

  #open({ redis, queues }: Shard, queueName: string): QueueConnection {
    const { durability, logger, tracing } = this.#options;
    const { replicaAcks } = durability;
    const queue = queues.get(queueName) ?? new QueueConnection({ redis, queueName, replicaAcks, logger, tracing });
    queues.set(queueName, queue);
    return queue;
  }
}

/**
 * Counts the jobs of a queue that are waiting, active or delayed, in one script, so that none is
 * missed while it moves between lists. Rejects while Redis is unavailable.
 */
export async function countJobs(redis: RedisClient, queueName: string): Promise<number> {
  const key = (part: string): string => queueKey(queueName, part);
  const script = `return redis.call('LLEN', KEYS[1]) + redis.call('LLEN', KEYS[2]) + redis.call('ZCARD', KEYS[3])`;
  return Number(await redis.eval(script, 3, key('wait'), key('active'), key('delayed')));
}
