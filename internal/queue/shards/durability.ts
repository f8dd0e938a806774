import type { Logger } from '../../kit/telemetry/logger.ts';
import type { PartGauge } from '../../kit/telemetry/metrics.ts';
import { askMaster } from '../clocks/ask-master.ts';
import type { RedisClient } from '../redis.ts';

const required: Record<string, string> = {
  appendonly: 'yes',
  appendfsync: 'always',
  'no-appendfsync-on-rewrite': 'no',
  'maxmemory-policy': 'noeviction',
};

/**
 * The settings of docs/design/durability.md that a queue's server lacks, one sentence each. An
 * unreadable setting counts as missing, since managed services refuse CONFIG. Rejects while Redis
 * is unavailable.
 */
export async function missingDurability(redis: RedisClient, queueName: string): Promise<string[]> {
  const settings = Object.entries(required);
  const replies = await askMaster(
    redis,
    queueName,
    settings.map(([setting]) => ['config', 'get', setting]),
  );
  return settings.flatMap(([setting, wanted], index) => {
    const value = settingOf(replies[index], setting);
    return value === wanted ? [] : [`${setting} is ${value ?? 'unreadable'}, must be ${wanted}`];
  });
}

/** Reports missing settings: in a gauge, and in the log when they change. */
export class DurabilityReport {
  readonly #gauge: PartGauge;
  readonly #logger: Logger;
  #before = '';

  constructor(gauge: PartGauge, logger: Logger) {
    this.#gauge = gauge;
    this.#logger = logger;
  }

  found(missing: string[]): void {
    this.#gauge.set(missing.length === 0 ? 1 : 0);
    const now = missing.join('; ');
    if (now !== '' && now !== this.#before) this.#logger.error({ missing }, 'redis may lose acknowledged events');
    this.#before = now;
  }

  /** Clears the gauge while Redis is unavailable. The next result is always reported. */
  forget(): void {
    this.#gauge.remove();
    this.#before = '';
  }
}

/** CONFIG GET returns a flat list in RESP2 and a map in RESP3. */
function settingOf(reply: unknown, setting: string): string | undefined {
  if (Array.isArray(reply)) return reply[0] === setting ? String(reply[1]) : undefined;
  return new Map(Object.entries((reply ?? {}) as Record<string, string>)).get(setting);
}
