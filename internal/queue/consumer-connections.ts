import type { Logger } from '../telemetry/logger.ts';
import type { ConsumerMetrics } from '../telemetry/worker-metrics.ts';
import { missingDurability } from './durability.ts';
import { createConsumerRedis, disconnect, type RedisClient } from './redis.ts';

/**
 * The two connections of a consumer: one for commands, one that waits for jobs. Both are made and closed here, because
 * BullMQ cannot close the second, which it would make itself, while Redis is away. Says when Redis goes and comes, and
 * whether it may lose events.
 */
export class ConsumerConnections {
  readonly main: RedisClient;
  readonly #blocking: RedisClient;
  readonly #metrics: ConsumerMetrics;
  readonly #logger: Logger;
  #connected = false;

  constructor(url: string, metrics: ConsumerMetrics, logger: Logger) {
    this.#metrics = metrics;
    this.#logger = logger;
    this.main = createConsumerRedis(url);
    this.#blocking = createConsumerRedis(url);
    for (const client of [this.main, this.#blocking]) {
      client.on('error', (error) => logger.debug({ error }, 'redis connection error'));
    }
    this.main.on('close', () => this.#onClose());
    this.main.on('ready', () => void this.#onReady());
    // BullMQ takes the copy it asks for as its blocking connection.
    Object.assign(this.main, { duplicate: () => this.#blocking });
  }

  async close(): Promise<void> {
    this.#connected = false;
    await Promise.all([disconnect(this.main), disconnect(this.#blocking)]);
  }

  /** ioredis says `close` after each attempt to connect that fails, too. */
  #onClose(): void {
    if (this.#connected) this.#logger.warn('redis connection lost');
    this.#connected = false;
  }

  async #onReady(): Promise<void> {
    this.#connected = true;
    this.#logger.info('redis connected');
    try {
      const missing = await missingDurability(this.main);
      this.#metrics.durable.set(missing.length === 0 ? 1 : 0);
      if (missing.length > 0) this.#logger.error({ missing }, 'redis may lose acknowledged events');
    } catch (error) {
      this.#logger.debug({ error }, 'durability of redis not checked: connection lost');
    }
  }
}
