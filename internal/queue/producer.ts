import { within } from '../async/within.ts';
import type { AcceptedEvent, KeyedEvent } from '../event/event.ts';
import { RequestError, unavailable } from '../errors/request-error.ts';
import type { ProducerLoad, ProducerMetrics, RejectionReason } from '../telemetry/producer-metrics.ts';
import type { SpanContext } from '../telemetry/tracing.ts';
import type { BacklogGuard } from './backlog-guard.ts';
import { jobName } from './queue-stats.ts';
import { BufferFull, GroupCommit, type Callers, type GroupCommitLimits } from './group-commit.ts';
import { IdempotencyKeys, type Keyed, type Reservation } from './idempotency.ts';
import { encodeJob } from './job-encoder.ts';
import { QueueConnection, type QueueConnectionOptions } from './queue-connection.ts';
import { Unacknowledged } from './replica-acks.ts';

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
  /** How long an Idempotency-Key is remembered. */
  idempotencyHours: number;
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
    const keptMs = options.idempotencyHours * 60 * 60 * 1_000;
    this.#idempotency = new IdempotencyKeys(options.redis, options.queueName, keptMs);
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
   * Resolves with the event as first accepted, once Redis has synced it to disk and its replicas
   * have acknowledged it: this event, or the earlier one of the same Idempotency-Key.
   * @throws {RequestError} `unavailable` when Runledger cannot promise that now; see {@link
   * IdempotencyKeys.reserve} for keys.
   */
  async enqueue(event: AcceptedEvent, idempotencyKey?: string): Promise<AcceptedEvent> {
    if (idempotencyKey !== undefined) {
      const [result] = await this.enqueueAll([{ event, key: idempotencyKey }], 'each');
      if (result instanceof RequestError) throw result;
      return result ?? event;
    }
    this.#requireAdmission(1);
    try {
      await this.#enqueueOnce([event]);
      return event;
    } catch (error) {
      throw this.#rejectionOf(error, 1);
    }
  }

  /**
   * As {@link enqueue}, for several events of one organization: they come into one commit, so that
   * all of them are on disk or none is. Resolves with the result of each, in order. An event
   * whose key cannot be reserved gives an error (see {@link IdempotencyKeys.reserve}). With `all`,
   * one such error means that no event is enqueued; with `each`, the others are.
   * @throws {RequestError} `unavailable`
   */
  async enqueueAll(events: readonly KeyedEvent[], which: 'all' | 'each'): Promise<(AcceptedEvent | RequestError)[]> {
    this.#requireAdmission(events.length);
    try {
      return await within(answerWithinMs, this.#track(this.#enqueueKeyed(events, which)));
    } catch (error) {
      throw this.#rejectionOf(error, events.length);
    }
  }

  #requireAdmission(events: number): void {
    const { guard } = this.#options;
    if (guard.rejection === undefined) return;
    this.#countRejection(guard.rejection.reason, events);
    throw unavailable(notNow);
  }

  #countRejection(reason: RejectionReason, events: number): void {
    this.#options.metrics.reject(reason, events);
    this.#options.onRejected?.();
  }

  #rejectionOf(error: unknown, events: number): RequestError {
    if (error instanceof RequestError) return error;
    this.#countRejection(reasonOf(error), events);
    return unavailable(error instanceof BufferFull ? 'Too many events are waiting to be queued.' : notNow);
  }

  /** Makes {@link stop} wait for the work. */
  #track<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    const forget = (): void => void this.#underWay.delete(work);
    work.then(forget, forget);
    return work;
  }

  #enqueueOnce(events: readonly AcceptedEvent[]): Promise<void> {
    const point = this.#options.tracing?.currentSpan();
    const [first] = events;
    if (point !== undefined && first !== undefined) this.#points.set(first, point);
    return this.#groupCommit.add(events);
  }

  async #enqueueKeyed(events: readonly KeyedEvent[], which: 'all' | 'each'): Promise<(AcceptedEvent | RequestError)[]> {
    const reservations = await this.#reserve(events, which);
    const results = events.map(({ event, key }) =>
      firstOf(event, key === undefined ? undefined : reservations.get(key)),
    );
    if (which === 'all' && results.some((result) => result instanceof RequestError)) return results;
    const isCommitted = (key = ''): boolean => {
      const reservation = reservations.get(key);
      return !(reservation instanceof RequestError) && reservation?.committed === true;
    };
    const possible = results.flatMap((event, index) => {
      return event instanceof RequestError ? [] : { event, key: events[index]?.key };
    });
    const fresh = possible.filter(({ key }) => !isCommitted(key));
    this.#options.metrics.replays.inc(possible.length - fresh.length);
    if (fresh.length > 0) await this.#enqueueReserved(fresh);
    return results;
  }

  /** By key. The keys of one request differ. */
  async #reserve(
    events: readonly KeyedEvent[],
    which: 'all' | 'each',
  ): Promise<Map<string, Reservation | RequestError | undefined>> {
    const keyed = events.filter(hasKey);
    if (keyed.length === 0) return new Map();
    const reservations = await this.#idempotency.reserve(keyed, which);
    return new Map(keyed.map(({ key }, index) => [key, reservations[index]]));
  }

  async #enqueueReserved(events: readonly KeyedEvent[]): Promise<void> {
    const keys = this.#idempotency;
    const keyed = events.filter(hasKey);
    const end = (mark: Promise<void>): void => void this.#track(mark.catch(() => undefined));
    try {
      await this.#enqueueOnce(events.map(({ event }) => event));
    } catch (error) {
      // The caller does not wait for the release. Without it a retry gets 409 until the lease ends.
      if (keyed.length > 0) end(keys.release(keyed));
      throw error;
    }
    // The events are safe already. Without the mark a retry enqueues the same identities, which is
    // harmless.
    if (keyed.length > 0) end(keys.markCommitted(keyed));
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

function reasonOf(error: unknown): RejectionReason {
  if (error instanceof BufferFull) return 'buffer-full';
  return error instanceof Unacknowledged ? 'unacknowledged' : 'commit-failed';
}

function hasKey(event: KeyedEvent): event is Keyed {
  return event.key !== undefined;
}

/** The event with the identity that its key got first. */
function firstOf(
  event: AcceptedEvent,
  reservation: Reservation | RequestError | undefined,
): AcceptedEvent | RequestError {
  if (reservation === undefined || reservation instanceof RequestError) return reservation ?? event;
  return { ...event, id: reservation.id, createdAt: reservation.createdAt };
}
