import type { Logger } from '../kit/telemetry/logger.ts';
import type { ConsumerMetrics } from './consumer-metrics.ts';
import { blockOn } from './bullmq-quirks.ts';
import { DurabilityReport, missingDurability } from './shards/durability.ts';
import { disconnect } from './ioredis-quirks.ts';
import { createConsumerRedis, type RedisAddress, type RedisClient } from './redis.ts';

/** Interval of durability checks, in ms. */
const checkMs = 5_000;

/**
 * The two connections of a consumer: one for commands, one that blocks for jobs. Opens and closes
 * both, because BullMQ cannot close its own while Redis is unavailable. Logs loss and recovery, and
 * reports missing durability.
 */
export class ConsumerConnections {
  readonly main: RedisClient;
  readonly #blocking: RedisClient;
  readonly #durability: DurabilityReport;
  readonly #queueName: string;
  readonly #logger: Logger;
  #connected = false;
  #checking: NodeJS.Timeout | undefined;

  constructor(address: RedisAddress, queueName: string, metrics: ConsumerMetrics, logger: Logger) {
    this.#durability = new DurabilityReport(metrics.durable, logger);
    this.#queueName = queueName;
    this.#logger = logger;
    this.main = createConsumerRedis(address);
    this.#blocking = createConsumerRedis(address);
    for (const client of [this.main, this.#blocking]) {
      client.on('error', (error) => logger.debug({ error }, 'redis connection error'));
    }
    this.main.on('close', () => this.#onClose());
    this.main.on('ready', () => void this.#onReady());
    blockOn(this.main, this.#blocking);
  }

  async close(): Promise<void> {
    this.#connected = false;
    clearInterval(this.#checking);
    await Promise.all([disconnect(this.main), disconnect(this.#blocking)]);
  }

  /** ioredis also emits `close` after each failed attempt to connect. */
  #onClose(): void {
    if (this.#connected) this.#logger.warn('redis connection lost');
    this.#connected = false;
    clearInterval(this.#checking);
    this.#durability.forget();
  }

  /**
   * Checks at an interval: settings change while Redis runs, and the alert must end once they are
   * corrected.
   */
  async #onReady(): Promise<void> {
    this.#connected = true;
    this.#logger.info('redis connected');
    clearInterval(this.#checking);
    this.#checking = setInterval(() => void this.#checkDurability(), checkMs);
    await this.#checkDurability();
  }

  async #checkDurability(): Promise<void> {
    try {
      const missing = await missingDurability(this.main, this.#queueName);
      if (!this.#connected) return;
      this.#durability.found(missing);
    } catch (error) {
      this.#logger.debug({ error }, 'durability of redis not checked: connection lost');
    }
  }
}
