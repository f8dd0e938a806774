import type { Config } from '../../internal/config/read.ts';
import type { Component } from '../../internal/lifecycle/component.ts';
import { component, ComponentGroup } from '../../internal/lifecycle/group.ts';
import { QueueClocks } from '../../internal/queue/queue-clocks.ts';
import { connect, createProducerRedis, disconnect, labelOf, type RedisAddress } from '../../internal/queue/redis.ts';
import type { ShardConnection } from '../../internal/queue/shard-registry.ts';
import type { Database } from '../../internal/store/database.ts';
import { controllerMetrics } from '../../internal/telemetry/controller-metrics.ts';
import type { Telemetry } from '../../internal/telemetry/telemetry.ts';
import type { TickListener } from '../../internal/verdicts/tick-listener.ts';
import { Ticker } from '../../internal/verdicts/ticker.ts';
import { drainedAddresses, readerRedisSettings, redisAddresses } from '../ingest/redis.ts';

/** The settings of the controller, beside those of every process. The caller opens the database. */
export const controllerSettings = [
  ...readerRedisSettings,
  'QUEUE_NAME',
  'RETENTION_DAYS',
  'METRICS_AUTOMATIONS',
] as const;

export type ControllerConfig = Config<(typeof controllerSettings)[number]>;

/** The parts beside the ticks. */
export interface ControllerParts {
  db: Database;
  /** Keeps the tables of declarations. */
  sources: readonly Component[];
  /** Tell others about each tick. */
  listeners: readonly TickListener[];
  /** The watermark waits for the Jobs that it has not recorded. */
  capture?: { readonly pendingSince: number | undefined } | undefined;
}

/** Wires the controller: declarations and the record → verdicts and alerts. */
export function createController(
  config: ControllerConfig,
  { db, sources, listeners, capture }: ControllerParts,
  { logger, registry, probes }: Telemetry,
): ComponentGroup {
  const open = (address: RedisAddress): ShardConnection => {
    const redis = createProducerRedis(address);
    redis.on('error', (error) => logger.debug({ error }, 'redis connection error'));
    return { redis, label: labelOf(address) };
  };
  const taking = redisAddresses(config).map(open);
  const drained = drainedAddresses(config).map(open);
  const all = [...taking, ...drained].map(({ redis }) => redis);
  const connection = component('redis', {
    start: async () => void (await Promise.all(all.map(connect))),
    stop: async () => void (await Promise.all(all.map(disconnect))),
  });
  const clocks = new QueueClocks({ taking, drained, queueName: config.QUEUE_NAME, logger });
  const ticker = new Ticker({
    db,
    readQueue: async () => {
      // Before the queue: what is recorded by now is in it, or stored.
      const uncapturedSince = capture?.pendingSince;
      return { ...(await clocks.read()), uncapturedSince };
    },
    listeners,
    retentionDays: config.RETENTION_DAYS,
    metricsAutomations: config.METRICS_AUTOMATIONS,
    metrics: controllerMetrics(registry),
    logger,
  });
  probes.ready.set('ticks', () => ticker.problem);
  return new ComponentGroup('controller', [connection, ...sources, ticker], logger);
}
