import { readConfig } from '../../internal/config/read.ts';
import { ComponentGroup } from '../../internal/kit/lifecycle/group.ts';
import { Registry } from '../../internal/kit/telemetry/metrics.ts';
import { producerMetrics } from '../../internal/queue/producer-metrics.ts';
import { createTelemetry } from '../../internal/kit/telemetry/telemetry.ts';
import { Producer } from '../../internal/queue/producer.ts';
import { backlogLimits, backledgerSettings, producerLimits, producerSettings } from '../../internal/wiring/limits.ts';
import { redisSettings } from '../../internal/wiring/redis.ts';
import { createShards } from '../../internal/wiring/shards.ts';

/** A producer as processes wire it, which `stop` ends. */
export async function startProducer(redisUrl: string): Promise<{ producer: Producer; stop: () => Promise<void> }> {
  const settings = [...redisSettings, ...backledgerSettings, ...producerSettings, 'QUEUE_NAME'] as const;
  const config = readConfig(settings, { REDIS_URL: redisUrl });
  const telemetry = createTelemetry('controller', 'silent');
  const { shards, parts } = createShards(config, backlogLimits(config), telemetry, new Registry());
  const producer = new Producer({
    shards,
    replicaAcks: 0,
    idempotencyHours: 24,
    limits: producerLimits(config),
    callers: { open: 1, opened: 1 },
    metrics: producerMetrics(new Registry(), () => producer.load),
    logger: telemetry.logger,
  });
  const all = new ComponentGroup('controller', [...parts, producer], telemetry.logger);
  await all.start();
  return { producer, stop: () => all.stop() };
}
