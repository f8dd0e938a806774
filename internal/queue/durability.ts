import type { Redis } from 'ioredis';
import type { Logger } from '../telemetry/logger.ts';
import type { ShardGauge } from '../telemetry/metrics.ts';
import { mastersOf, type RedisClient } from './redis.ts';

const required: Record<string, string> = {
  appendonly: 'yes',
  appendfsync: 'always',
  'no-appendfsync-on-rewrite': 'no',
  'maxmemory-policy': 'noeviction',
};

/**
 * The settings of ARCHITECTURE.md, "Durability", that Redis lacks: one sentence each. An unreadable
 * setting counts as missing. Rejects while Redis is unavailable.
 */
export async function missingDurability(redis: RedisClient): Promise<string[]> {
  const found = await Promise.all(mastersOf(redis).map((master) => missingIn(master)));
  return [...new Set(found.flat())];
}

/** Reports missing settings: in a gauge, and in the log when they change. */
export class DurabilityReport {
  readonly #gauge: ShardGauge;
  readonly #logger: Logger;
  #before = '';

  constructor(gauge: ShardGauge, logger: Logger) {
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

async function missingIn(redis: Redis): Promise<string[]> {
  const settings = Object.entries(required);
  const values = await Promise.all(settings.map(([setting]) => readSetting(redis, setting)));
  return settings.flatMap(([setting, wanted], index) => {
    const value = values[index];
    return value === wanted ? [] : [`${setting} is ${value ?? 'unreadable'}, must be ${wanted}`];
  });
}

async function readSetting(redis: Redis, setting: string): Promise<string | undefined> {
  try {
    const reply: unknown = await redis.call('config', 'get', setting);
    return settingOf(reply, setting);
  } catch (error) {
    // Managed services refuse CONFIG. The caller handles an unavailable Redis.
    if (error instanceof Error && error.name === 'ReplyError') return undefined;
    throw error;
  }
}

/** CONFIG GET returns a flat list in RESP2 and a map in RESP3. */
function settingOf(reply: unknown, setting: string): string | undefined {
  if (Array.isArray(reply)) return reply[0] === setting ? String(reply[1]) : undefined;
  return new Map(Object.entries((reply ?? {}) as Record<string, string>)).get(setting);
}
