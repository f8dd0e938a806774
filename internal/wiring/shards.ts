import type { Config } from '../config/read.ts';
import type { Component } from '../kit/lifecycle/component.ts';
import { component, inParallel } from '../kit/lifecycle/group.ts';
import { BacklogGuard, type BacklogLimits } from '../queue/admission/backlog-guard.ts';
import { disconnect } from '../queue/ioredis-quirks.ts';
import { createProducerRedis } from '../queue/redis.ts';
import { ShardRegistry, type ShardQueue } from '../queue/shards/shard-registry.ts';
import { Shards } from '../queue/shards/shards.ts';
import type { Registry } from '../kit/telemetry/metrics.ts';
import { backlogMetrics } from '../queue/queue-metrics.ts';
import { shardMetrics } from '../queue/shards/shard-metrics.ts';
import type { Telemetry } from '../kit/telemetry/telemetry.ts';
import { takingShards, type redisSettings } from './redis.ts';

/**
 * Longest wait for a shard's reply, in ms, while another one takes events. With `REDIS_ACKS` the
 * reply includes the wait for the replicas.
 */
const replyMs = 700;
const replyWithAcksMs = 1_200;

/** The shards of the queue that take events, and their components in the order of their start. */
export interface QueueShards {
  shards: Shards;
  queues: readonly [ShardQueue, ...ShardQueue[]];
  parts: readonly Component[];
}

/**
 * Wires the shards of a process that puts events into the queue. Their metrics go into `registry`.
 */
export function createShards(
  config: Config<(typeof redisSettings)[number] | 'QUEUE_NAME' | 'REDIS_ACKS'>,
  limits: BacklogLimits,
  { logger }: Telemetry,
  registry: Registry,
): QueueShards {
  const addresses = takingShards(config);
  const metrics = backlogMetrics(registry);
  const several = addresses.length > 1;
  const all = addresses.map(({ address, queueName, label }, index) => {
    // One client per shard: the loss of a cluster's master affects only the shards of that master.
    const redis = createProducerRedis(address);
    redis.on('error', (error) => logger.debug({ error }, 'redis connection error'));
    const of = metrics(several ? String(index) : undefined);
    const guard = new BacklogGuard(redis, queueName, limits, of, several ? logger.child({ shard: label }) : logger);
    return { redis, queueName, guard, label };
  });
  const [first, ...others] = all;
  if (first === undefined) throw new Error('REDIS_URL is empty');
  const registered = several ? new ShardRegistry(all, logger) : undefined;
  const shards: Shards = new Shards({
    shards: all,
    registry: registered,
    // A scrape calls this after the shards exist.
    metrics: shardMetrics(registry, () => all.map((_, index) => shards.admits(index))),
    logger,
    replyMs: config.REDIS_ACKS > 0 ? replyWithAcksMs : replyMs,
  });
  const connection = component('redis', {
    stop: async () => void (await Promise.all(all.map(({ redis }) => disconnect(redis)))),
  });
  const guards = inParallel(
    'backlog guards',
    all.map(({ guard }) => guard),
  );
  return {
    shards,
    queues: [first, ...others],
    parts: [connection, guards, ...(registered ? [registered] : [])],
  };
}
