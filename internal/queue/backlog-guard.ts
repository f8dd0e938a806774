import { describeError, type Logger } from '../telemetry/logger.ts';
import type { ShedReason } from '../telemetry/producer-metrics.ts';
import type { BacklogMetrics } from '../telemetry/queue-metrics.ts';
import { isReplica, readBacklog, type Backlog } from './backlog.ts';
import { missingDurability } from './durability.ts';
import { ConnectionState, type ConnectionListener } from './connection-state.ts';
import { connect, reconnect, type RedisClient } from './redis.ts';

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

const isDemoted: Shed = { reason: 'redis-replica', detail: 'Redis is a replica: it would lose what it took.' };

/**
 * Watches Redis beside the traffic, so that a request learns at once, without a round trip, that it cannot be taken.
 * Each look checks the durability settings too: they may change while Redis runs, or with the server behind its address.
 */
export class BacklogGuard implements ConnectionListener {
  readonly name = 'backlog guard';
  readonly #redis: RedisClient;
  readonly #queueName: string;
  readonly #limits: BacklogLimits;
  readonly #metrics: BacklogMetrics;
  readonly #logger: Logger;
  #shed: Shed | undefined = { reason: 'not-checked', detail: 'Redis has not answered yet.' };
  readonly #connection: ConnectionState;
  #missing = '';
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<unknown> = Promise.resolve();
  #stopped = true;

  constructor(redis: RedisClient, queueName: string, limits: BacklogLimits, metrics: BacklogMetrics, logger: Logger) {
    this.#redis = redis;
    this.#queueName = queueName;
    this.#limits = limits;
    this.#metrics = metrics;
    this.#logger = logger;
    this.#connection = new ConnectionState(redis, this);
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

  /** What was found holds for the connection on which it was: behind the address may be another server next. */
  onLost(): void {
    if (this.#shed === undefined && !this.#stopped) this.#takeForUnreachable();
  }

  onMade(): void {
    if (!this.#stopped) this.#looking = Promise.all([this.#looking, this.#lookOnce()]);
  }

  /** Never rejects. */
  async #lookOnce(): Promise<void> {
    const { changes } = this.#connection;
    try {
      const [missing, backlog, replica] = await Promise.all([
        missingDurability(this.#redis),
        readBacklog(this.#redis, this.#queueName),
        isReplica(this.#redis),
      ]);
      if (this.#isOutdated(changes)) return await this.#lookOnce();
      this.#report(backlog, missing);
      this.#change(replica ? isDemoted : this.#judge(backlog, missing));
      if (replica) reconnect(this.#redis);
    } catch (error) {
      if (this.#isOutdated(changes)) return await this.#lookOnce();
      this.#takeForUnreachable(error);
    }
    return undefined;
  }

  #isOutdated(changes: number): boolean {
    return changes !== this.#connection.changes && !this.#stopped;
  }

  async #look(): Promise<void> {
    this.#looking = this.#lookOnce();
    await this.#looking;
    if (!this.#stopped) this.#timer = setTimeout(() => void this.#look(), this.#limits.intervalMs);
  }

  #takeForUnreachable(found?: unknown): void {
    this.#metrics.forget();
    const error = this.#connection.error ?? found ?? new Error('connection lost');
    const detail = `Redis does not answer: ${describeError(error).message}`;
    this.#change({ reason: 'redis-unreachable', detail }, error);
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
