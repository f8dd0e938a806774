import type { Logger } from '../telemetry/logger.ts';
import type { ShedReason } from '../telemetry/producer-metrics.ts';
import type { BacklogMetrics } from '../telemetry/queue-metrics.ts';
import { readBacklog, type Backlog } from './backlog.ts';
import { missingDurability } from './durability.ts';
import { connect, type RedisClient } from './redis.ts';

/** Past which backlog ingest sheds, and how often it looks. */
export interface BacklogLimits {
  /** Jobs waiting or delayed. */
  maxJobs: number;
  /** Share of Redis' `maxmemory`: at 1 the workers could not fetch either. */
  maxMemoryShare: number;
  /** Between two looks, in ms. */
  intervalMs: number;
  /** Treat a Redis that may lose acknowledged events as one that cannot take any. */
  requireDurable: boolean;
}

/** Why no event can be taken now: `reason` is a metric label, `detail` a sentence for people. */
export interface Shed {
  reason: ShedReason;
  detail: string;
}

/**
 * Watches Redis beside the traffic, so that a request learns at once, without a round trip, that it cannot be taken.
 * Each look checks the durability settings too: they may change while Redis runs, or with the server behind its address.
 */
export class BacklogGuard {
  readonly name = 'backlog guard';
  readonly #redis: RedisClient;
  readonly #queueName: string;
  readonly #limits: BacklogLimits;
  readonly #metrics: BacklogMetrics;
  readonly #logger: Logger;
  #shed: Shed | undefined = { reason: 'not-checked', detail: 'Redis has not answered yet.' };
  #missing = '';
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #stopped = true;

  constructor(redis: RedisClient, queueName: string, limits: BacklogLimits, metrics: BacklogMetrics, logger: Logger) {
    this.#redis = redis;
    this.#queueName = queueName;
    this.#limits = limits;
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /** Undefined while events can be taken. */
  get shed(): Shed | undefined {
    return this.#shed;
  }

  /** Looks once before it resolves; an unreachable Redis is no error, it is what is then reported. */
  async start(): Promise<void> {
    if (!this.#stopped) return;
    this.#stopped = false;
    await connect(this.#redis);
    await this.#look();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  /** Never rejects. */
  async #lookOnce(): Promise<void> {
    try {
      const [missing, backlog] = await Promise.all([
        missingDurability(this.#redis),
        readBacklog(this.#redis, this.#queueName),
      ]);
      this.#report(backlog, missing);
      this.#change(this.#judge(backlog, missing));
    } catch (error) {
      this.#metrics.reachable.set(0);
      this.#change({ reason: 'redis-unreachable', detail: 'Redis does not answer.' }, error);
    }
  }

  async #look(): Promise<void> {
    this.#looking = this.#lookOnce();
    await this.#looking;
    if (!this.#stopped) this.#timer = setTimeout(() => void this.#look(), this.#limits.intervalMs);
  }

  #judge(backlog: Backlog, missing: string[]): Shed | undefined {
    const { maxJobs, maxMemoryShare, requireDurable } = this.#limits;
    if (requireDurable && missing.length > 0) {
      return { reason: 'redis-not-durable', detail: `Redis may lose acknowledged events: ${missing.join('; ')}.` };
    }
    if (backlog.memoryShare >= maxMemoryShare) return { reason: 'redis-memory', detail: 'Redis is nearly full.' };
    if (backlog.waiting + backlog.delayed >= maxJobs) return { reason: 'backlog', detail: 'The backlog is too long.' };
    return undefined;
  }

  #report(backlog: Backlog, missing: string[]): void {
    this.#metrics.reachable.set(1);
    this.#metrics.durable.set(missing.length === 0 ? 1 : 0);
    const sentence = missing.join('; ');
    if (sentence !== '' && sentence !== this.#missing) {
      this.#logger.error({ missing }, 'redis may lose acknowledged events');
    }
    this.#missing = sentence;
    this.#metrics.memoryShare.set(backlog.memoryShare);
    for (const state of ['waiting', 'active', 'delayed', 'failed'] as const) {
      this.#metrics.jobs.set({ state }, backlog[state]);
    }
  }

  #change(shed: Shed | undefined, error?: unknown): void {
    const before = this.#shed?.reason;
    this.#shed = shed;
    if (shed?.reason === before) return;
    if (shed !== undefined) this.#logger.warn({ reason: shed.reason, detail: shed.detail, error }, 'shedding events');
    else if (before === 'not-checked') this.#logger.info('taking events');
    // As loud as the trouble that is over: whoever has seen the one looks for the other.
    else this.#logger.warn({ before }, 'taking events again');
  }
}
