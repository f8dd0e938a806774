import { within } from '../async/within.ts';
import type { AcceptedEvent } from '../event/event.ts';
import { RequestError, unavailable } from '../errors/request-error.ts';
import type { ProducerLoad, ProducerMetrics, RejectionReason } from '../telemetry/producer-metrics.ts';
import type { SpanContext } from '../telemetry/tracing.ts';
import type { BacklogGuard } from './backlog-guard.ts';
import { jobName } from './queue-stats.ts';
import { BufferFull, GroupCommit, type Callers, type GroupCommitLimits } from './group-commit.ts';
import { IdempotencyKeys } from './idempotency.ts';
import { encodeJob } from './job-encoder.ts';
import { QueueConnection, type QueueConnectionOptions } from './queue-connection.ts';

/** Longest wait of a caller, in ms: the 503 of a slow Redis comes within 2 s. */
const answerWithinMs = 1_800;

/**
 * Time between the starts of two commits, in ms, unless the next one is full or holds an event of
 * every connected caller. It makes batches larger under load. An event after a quiet moment does
 * not wait.
 */
const intervalMs = 3;

/** The answer to a caller whose event may be lost. */
const notNow = 'Events cannot be stored safely at the moment.';

export interface ProducerOptions extends QueueConnectionOptions {
  limits: Omit<GroupCommitLimits, 'intervalMs' | 'answerWithinMs'>;
  /** A commit stops waiting for more events when all callers wait for their answers. */
  callers: Callers;
  guard: BacklogGuard;
  /** Called for each event that gets 503. */
  onRejected?: () => void;
  metrics: ProducerMetrics;
}

/** Puts events into the queue. Only the producer decides on a 201. */
export class Producer {
  readonly name = 'producer';
  readonly #options: ProducerOptions;
  readonly #queue: QueueConnection;
  readonly #groupCommit: GroupCommit;
  readonly #idempotency: IdempotencyKeys;
  readonly #underWay = new Set<Promise<unknown>>();
  /** The active span of each event when it was enqueued. */
  readonly #points = new WeakMap<AcceptedEvent, SpanContext>();

  constructor(options: ProducerOptions) {
    this.#options = options;
    this.#queue = new QueueConnection(options);
    const limits = { ...options.limits, intervalMs, answerWithinMs };
    this.#groupCommit = new GroupCommit((events) => this.#commit(events), limits, options.callers);
    this.#idempotency = new IdempotencyKeys(options.redis, options.queueName);
  }

  /** The commits and events under way. */
  get load(): ProducerLoad {
    const { inFlight, buffered } = this.#groupCommit;
    return { inFlight, buffered };
  }

  /** Opens the queue if Redis is available; otherwise the first commit opens it. */
  async start(): Promise<void> {
    await this.#queue.open().catch(() => undefined);
  }

  /** Finishes the commits under way, then closes the queue. The caller closes the Redis client. */
  async stop(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
    await this.#groupCommit.drain();
    await this.#queue.close();
  }

  /**
   * Resolves with the event as first accepted, once Redis has synced it to disk: this event, or the
   * earlier one of the same Idempotency-Key.
   * @throws {RequestError} `unavailable` when Runledger cannot promise that now; see {@link
   * IdempotencyKeys.reserve} for keys.
   */
  async enqueue(event: AcceptedEvent, idempotencyKey?: string): Promise<AcceptedEvent> {
    const { guard } = this.#options;
    if (guard.rejection !== undefined) {
      this.#countRejection(guard.rejection.reason);
      throw unavailable(notNow);
    }
    try {
      if (idempotencyKey !== undefined)
        return await within(answerWithinMs, this.#track(this.#enqueueKeyed(event, idempotencyKey)));
      await this.#enqueueOnce(event);
      return event;
    } catch (error) {
      if (error instanceof RequestError) throw error;
      const full = error instanceof BufferFull;
      this.#countRejection(full ? 'buffer-full' : 'commit-failed');
      throw unavailable(full ? 'Too many events are waiting to be queued.' : notNow);
    }
  }

  #countRejection(reason: RejectionReason): void {
    this.#options.metrics.reject(reason);
    this.#options.onRejected?.();
  }

  /** Makes {@link stop} wait for the work. */
  #track<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    const forget = (): void => void this.#underWay.delete(work);
    work.then(forget, forget);
    return work;
  }

  #enqueueOnce(event: AcceptedEvent): Promise<void> {
    const point = this.#options.tracing?.currentSpan();
    if (point !== undefined) this.#points.set(event, point);
    return this.#groupCommit.add(event);
  }

  async #enqueueKeyed(event: AcceptedEvent, key: string): Promise<AcceptedEvent> {
    const { id, createdAt, committed } = await this.#idempotency.reserve(key, event);
    const first = { ...event, id, createdAt };
    if (committed) {
      this.#options.metrics.replays.inc();
      return first;
    }
    try {
      await this.#enqueueOnce(first);
    } catch (error) {
      // The caller does not wait for the release. Without it a retry gets 409 until the lease ends.
      void this.#track(this.#idempotency.release(key, event.organization).catch(() => undefined));
      throw error;
    }
    // The event is safe already. Without the mark a retry enqueues the same identity, which is
    // harmless.
    void this.#track(this.#idempotency.markCommitted(key, event.organization).catch(() => undefined));
    return first;
  }

  async #commit(events: AcceptedEvent[]): Promise<void> {
    const { metrics, logger } = this.#options;
    const begun = performance.now();
    metrics.batchSize.add(events.length);
    try {
      await this.#traced(events, () => this.#add(events));
      for (const { organization, kind } of events) metrics.accepted.add(metrics.organization(organization), kind);
    } catch (error) {
      logger.warn({ error, events: events.length }, 'commit to redis failed');
      throw error;
    } finally {
      metrics.commitSeconds.add((performance.now() - begun) / 1_000);
    }
  }

  async #add(events: AcceptedEvent[]): Promise<void> {
    const queue = await this.#queue.open();
    await queue.add(jobName(events.length), encodeJob(events));
  }

  #traced(events: AcceptedEvent[], work: () => Promise<void>): Promise<void> {
    const { tracing } = this.#options;
    if (tracing === undefined) return work();
    const points = events.flatMap((event) => this.#points.get(event) ?? []);
    return tracing.continue('commit events', points, { 'messaging.batch.message_count': events.length }, work);
  }
}
