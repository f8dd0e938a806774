import { setImmediate } from 'node:timers/promises';
import { describeError, type Logger } from '../../kit/telemetry/logger.ts';
import { jobStates, type BacklogMetrics } from '../queue-metrics.ts';
import { isReplica, isSentinel, readBacklog, type Backlog } from './backlog.ts';
import { DurabilityReport, missingDurability } from '../shards/durability.ts';
import { ConnectionState, type ConnectionListener } from '../connection-state.ts';
import { queueSlot } from '../keys/keys.ts';
import { connect } from '../ioredis-quirks.ts';
import { reconnect, type RedisClient } from '../redis.ts';
import { countReplicas } from '../shards/replicas.ts';
import {
  isDemoted,
  admit,
  isFullOfKeys,
  isOverflowFull,
  notChecked,
  type Rejection,
  type AdmissionLimits,
} from './admission-control.ts';

/** The limits of admission, and how often the guard checks them. */
export interface BacklogLimits extends AdmissionLimits {
  /** Time between two checks, in ms. */
  intervalMs: number;
}

/** Delay from a new connection to the check of its server, in ms. */
const soonMs = 50;

/** Grace period after a deliberate reconnect, in ms. */
const leavingMs = 1_000;

/**
 * Checks Redis at an interval, so that a request learns without a round trip that Redis cannot take
 * it. Each check includes durability: the settings, or the server behind the address, may change.
 */
export class BacklogGuard implements ConnectionListener {
  readonly name = 'backlog guard';
  readonly #redis: RedisClient;
  readonly #queueName: string;
  readonly #limits: BacklogLimits;
  readonly #metrics: BacklogMetrics;
  readonly #logger: Logger;
  #rejection: Rejection | undefined = notChecked;
  #overflowFull = false;
  #keysFull = false;
  #admittedOnce = false;
  readonly #connection: ConnectionState;
  readonly #durability: DurabilityReport;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  /** True for a new connection whose server is not checked yet. */
  #soon = false;
  /** Time of the last reconnect away from a replica, in ms of the monotonic clock. */
  #leftAt = -Infinity;
  #stopped = true;

  constructor(redis: RedisClient, queueName: string, limits: BacklogLimits, metrics: BacklogMetrics, logger: Logger) {
    this.#redis = redis;
    this.#queueName = queueName;
    this.#limits = limits;
    this.#metrics = metrics;
    this.#logger = logger;
    this.#durability = new DurabilityReport(metrics.durable, logger);
    this.#connection = new ConnectionState(redis, this, queueSlot(queueName));
  }

  /** Undefined while events are admitted. */
  get rejection(): Rejection | undefined {
    return this.#rejection;
  }

  /** True while the overflow lane takes no more events. */
  get overflowFull(): boolean {
    return this.#overflowFull;
  }

  /** True while new idempotency keys are refused. */
  get keysFull(): boolean {
    return this.#keysFull;
  }

  /** True once events have been admitted for the first time. */
  get admittedOnce(): boolean {
    return this.#admittedOnce;
  }

  /** Resolves after a first check. An unavailable Redis is a result, not an error. */
  async start(): Promise<void> {
    if (!this.#stopped) return;
    this.#stopped = false;
    await connect(this.#redis);
    // A cluster's client reports ready one turn of the event loop later.
    await setImmediate();
    await this.#look();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  /** A result is valid for one connection, because the address may lead to another server next. */
  onLost(): void {
    if (this.#rejection === undefined && !this.#stopped) this.#takeForUnreachable();
  }

  onMade(): void {
    this.#soon = true;
    if (this.#looking === undefined) this.#lookLater();
  }

  async #look(): Promise<void> {
    clearTimeout(this.#timer);
    this.#soon = false;
    this.#looking = this.#lookOnce();
    await this.#looking;
    this.#looking = undefined;
    this.#lookLater();
  }

  /**
   * Runs checks one after another. In a cluster without a master, checks open connections and
   * connections ask for checks.
   */
  #lookLater(): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#look(), this.#soon ? soonMs : this.#limits.intervalMs);
  }

  /** Never rejects. Discards the result if the connection changed in the meantime. */
  async #lookOnce(): Promise<void> {
    const { changes } = this.#connection;
    try {
      const [missing, backlog, replica, replicas] = await Promise.all([
        missingDurability(this.#redis, this.#queueName),
        readBacklog(this.#redis, this.#queueName),
        isReplica(this.#redis, this.#queueName),
        this.#countReplicas(),
      ]);
      if (changes !== this.#connection.changes) return;
      this.#durability.found(missing);
      this.#report(backlog);
      this.#overflowFull = isOverflowFull(backlog, this.#limits);
      this.#keysFull = isFullOfKeys(backlog, this.#limits);
      this.#change(admit({ backlog, missing, replica, replicas }, this.#limits));
      if (replica) this.#leave();
    } catch (error) {
      this.#takeForUnreachable(await explainSentinel(this.#redis, error));
    }
  }

  async #countReplicas(): Promise<number> {
    if (this.#limits.replicaAcks === 0) return 0;
    const replicas = await countReplicas(this.#redis, this.#queueName);
    this.#metrics.replicas.set(replicas);
    return replicas;
  }

  /**
   * Reconnects to find the current master, at most once a second, because the address may still
   * lead to this replica.
   */
  #leave(): void {
    if (this.#leaving) return;
    this.#leftAt = performance.now();
    reconnect(this.#redis);
  }

  get #leaving(): boolean {
    return performance.now() - this.#leftAt < leavingMs;
  }

  #takeForUnreachable(found?: unknown): void {
    if (this.#rejection === isDemoted && this.#leaving) return;
    this.#durability.forget();
    this.#metrics.forget();
    const error = this.#connection.error ?? found ?? new Error('connection lost');
    const detail = `Redis does not answer: ${describeError(error).message}`;
    this.#change({ reason: 'redis-unreachable', detail }, error);
  }

  #report(backlog: Backlog): void {
    this.#metrics.reachable.set(1);
    this.#metrics.memoryShare.set(backlog.memoryShare);
    for (const state of jobStates) this.#metrics.jobs(state).set(backlog[state]);
  }

  #change(rejection: Rejection | undefined, error?: unknown): void {
    const before = this.#rejection?.reason;
    this.#rejection = rejection;
    this.#admittedOnce ||= rejection === undefined;
    if (rejection?.reason === before) return;
    if (rejection !== undefined)
      this.#logger.warn({ reason: rejection.reason, detail: rejection.detail, error }, 'rejecting events');
    else if (before === 'not-checked') this.#logger.info('admitting events');
    // The same level as the rejection, so that a search for one finds the other.
    else this.#logger.warn({ before }, 'admitting events again');
  }
}

/** Names a Sentinel as the cause: it answers INFO but rejects the commands of a queue. */
async function explainSentinel(redis: RedisClient, error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return error;
  const sentinel = await isSentinel(redis).catch(() => false);
  return sentinel ? new Error('REDIS_URL leads to a Redis Sentinel; name the Sentinels in REDIS_SENTINELS') : error;
}
