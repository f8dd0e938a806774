import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { Repeating } from '../kit/async/repeating.ts';
import { within } from '../kit/async/within.ts';
import type { AcceptedEvent, EventGroup } from '../event/event.ts';
import { mostHeldBytes, tooMuchHeld } from '../event/held-bytes.ts';
import type { RepeatKey } from '../event/repeat-key.ts';
import { RequestError, Unavailable, type RejectionReason } from '../kit/errors/request-error.ts';
import type { ProducerLoad, ProducerMetrics } from './producer-metrics.ts';
import { BufferFull, heldBytesOf, type Callers, type GroupCommitLimits } from './group-commit.ts';
import { HeldEvents, type Held } from './job/held-events.ts';
import { Claim, IdempotencyKeys, type Keyed } from './keys/idempotency.ts';
import { keyPlaces } from './keys/idempotency-places.ts';
import { overflowQueue } from './keys/keys.ts';
import { Lane, type LaneOptions } from './shards/lane.ts';
import type { Overflow } from './admission/overflow.ts';
import { OverflowNotes } from './admission/overflow-notes.ts';
import type { QueueConnectionOptions } from './queue-connection.ts';
import { Unacknowledged } from './shards/replica-acks.ts';
import { answerWithinMs, type Shards } from './shards/shards.ts';

/**
 * Time between the starts of two commits, in ms, unless the next one is full or holds an event of
 * every connected caller. It enlarges batches under load; an event after a quiet moment does not
 * wait.
 */
const intervalMs = 3;

/** Time between two looks for keys that are too old, in ms. */
const sweepMs = 60_000;

/** How long the encoding of a large job rests after a step while others send events, in ms. */
const restMs = 4;

/** By how much an answer may be late, in ms. */
const slackMs = 100;

/** The answer to callers whose event may be lost. */
const notNow = 'Events cannot be stored safely at the moment.';

export interface ProducerOptions extends Omit<QueueConnectionOptions, 'redis' | 'queueName'> {
  shards: Shards;
  limits: Omit<GroupCommitLimits, 'intervalMs' | 'answerWithinMs'>;
  /** A commit stops waiting for more events when all callers wait for their answers. */
  callers: Callers;
  /** True puts each event's seal into its job. Default: false. */
  seals?: boolean | undefined;
  /** Undefined if no event goes to the overflow lane. */
  overflow?: Overflow | undefined;
  metrics: ProducerMetrics;
  /** How long an Idempotency-Key is remembered. */
  idempotencyHours: number;
}

/** Adds events to the queue. Only the producer decides on a 201. */
export class Producer {
  readonly name = 'producer';
  readonly #options: ProducerOptions;
  readonly #main: Lane;
  /** For organizations beyond their share; unused without `overflow`. */
  readonly #overflow: Lane;
  readonly #keys: IdempotencyKeys;
  readonly #held: HeldEvents;
  readonly #sweeps = new Repeating(async () => {
    await this.#keys.sweep();
    return sweepMs;
  });
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(options: ProducerOptions) {
    this.#options = options;
    const limits = { ...options.limits, intervalMs, answerWithinMs };
    const rest = (organization: string) => (this.othersSend(organization) ? sleep(restMs) : nextTurn());
    const { shards, idempotencyHours, callers } = options;
    this.#keys = new IdempotencyKeys({
      ...keyPlaces(shards.all, options.replicaAcks),
      keptMs: idempotencyHours * 3_600_000,
      callers,
      isFull: () => shards.keysFull,
    });
    this.#main = new Lane({ ...options, keys: this.#keys, limits, rest });
    this.#held = new HeldEvents(limits);
    this.#overflow = createOverflowLane({ ...options, keys: this.#keys, limits, rest });
  }

  /** The commits and events under way. */
  get load(): ProducerLoad {
    const [main, overflow] = [this.#main.load, this.#overflow.load];
    return { inFlight: main.inFlight + overflow.inFlight, buffered: main.buffered + overflow.buffered };
  }

  /** As {@link HeldEvents.hasOthers}. */
  othersSend(organization: string): boolean {
    return this.#held.hasOthers(organization);
  }

  /** Opens the queue if Redis is available; otherwise the first commit opens it. */
  async start(): Promise<void> {
    await this.#main.start();
    this.#sweeps.start(sweepMs);
  }

  /** Finishes the commits under way, then closes the queue. The caller closes the Redis client. */
  async stop(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
    await this.#sweeps.stop();
    await this.#keys.drained();
    await this.#main.stop();
    await this.#overflow.stop();
  }

  /**
   * Resolves with the event as first accepted, once Redis has synced it to disk and its replicas
   * have acknowledged it: this event, or the earlier one with the same Idempotency-Key.
   * @throws {RequestError} `unavailable` when Runledger cannot promise that now;
   * `too-many-requests` when the overflow lane is full; `payload-too-large` beyond {@link
   * mostHeldBytes}; see {@link IdempotencyKeys.reserve} for keys.
   */
  async enqueue(event: AcceptedEvent, key?: RepeatKey): Promise<AcceptedEvent> {
    const events = [event];
    const keyed = key && { events, key };
    if (keyed !== undefined && !this.#keys.joinJobs) return eventIn(await this.enqueueAll([keyed], 'each'));
    const { lane, bytes, own } = this.#hold(events);
    try {
      if (keyed !== undefined) return eventIn([await this.#addKeyed(keyed, lane, bytes)]);
      await lane.add(events, bytes);
      return event;
    } catch (error) {
      throw this.#rejectionOf(error, events, lane);
    } finally {
      this.#held.release(own, events, bytes);
    }
  }

  /**
   * As {@link enqueue}, for several events of one organization in one commit: all of them are on
   * disk or none is. Resolves with the result of each group, in order. A group whose key cannot be
   * reserved yields an error (see {@link IdempotencyKeys.reserve}), and none of its events is
   * enqueued. With `all`, one such error stops all events; with `each`, the others are enqueued.
   * @param withinMs what is left of the time for the answer.
   * @throws {RequestError} `unavailable`, `too-many-requests`, `payload-too-large`
   */
  async enqueueAll(
    groups: readonly EventGroup[],
    which: 'all' | 'each',
    withinMs = answerWithinMs,
  ): Promise<(readonly AcceptedEvent[] | RequestError)[]> {
    const all = groups.flatMap(({ events }) => events);
    const { lane, bytes, own } = this.#hold(all);
    const commit = groups.some(hasKey) ? undefined : lane.add(all, bytes);
    const work =
      commit?.then(() => groups.map(({ events }) => events)) ??
      this.#track(this.#enqueueGroups(groups, which, lane, bytes));
    // They stay in memory until the work ends, even if the caller stops waiting.
    const release = (): void => this.#held.release(own, all, bytes);
    work.then(release, release);
    try {
      // A commit ends in time by itself. A timer for each request would cost more than its part.
      const endsInTime = commit !== undefined && withinMs > answerWithinMs - slackMs;
      return await (endsInTime ? work : within(withinMs, work));
    } catch (error) {
      throw this.#rejectionOf(error, all, lane);
    }
  }

  /** Finds the lane of admitted events, and counts them as held. */
  #hold(events: readonly AcceptedEvent[]): { lane: Lane; bytes: number; own: Held } {
    this.requireAdmission(events.length);
    const bytes = heldBytesOf(events);
    if (bytes > mostHeldBytes) throw tooMuchHeld();
    const lane = this.#laneOf(events);
    try {
      return { lane, bytes, own: this.#held.take(events, bytes) };
    } catch (error) {
      throw this.#rejectionOf(error, events, lane);
    }
  }

  /** @throws {RequestError} `too-many-requests` when they can only go to a full overflow lane. */
  #laneOf(events: readonly AcceptedEvent[]): Lane {
    const [first] = events;
    if (first === undefined) return this.#main;
    return this.#options.overflow?.takes(first.organization, events.length) === true ? this.#overflow : this.#main;
  }

  /** @throws {RequestError} `unavailable` while this many events would be rejected. */
  requireAdmission(events: number): void {
    const { rejection } = this.#options.shards;
    if (rejection !== undefined) throw new Unavailable(notNow, rejection.reason, events);
  }

  #rejectionOf(error: unknown, events: readonly AcceptedEvent[], lane: Lane): RequestError {
    if (error instanceof RequestError) return error;
    const { overflow } = this.#options;
    const [first] = events;
    if (error instanceof BufferFull && lane === this.#overflow && overflow && first)
      return overflow.refusalOf(first.organization);
    const detail = error instanceof BufferFull ? 'Too many events are waiting to be queued.' : notNow;
    return new Unavailable(detail, reasonOf(error), events.length);
  }

  /** Makes {@link stop} wait for the work. */
  #track<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    const forget = (): void => void this.#underWay.delete(work);
    work.then(forget, forget);
    return work;
  }

  async #enqueueGroups(
    groups: readonly EventGroup[],
    which: 'all' | 'each',
    lane: Lane,
    bytes: number,
  ): Promise<(readonly AcceptedEvent[] | RequestError)[]> {
    const [only, ...others] = groups;
    const isOne = only !== undefined && others.length === 0 && hasKey(only);
    if (isOne && this.#keys.joinJobs) return [await this.#addKeyed(only, lane, bytes)];
    return this.#enqueueReserving(groups, which, lane);
  }

  /** The key and the job of the events are written together. */
  async #addKeyed(keyed: Keyed, lane: Lane, bytes: number): Promise<readonly AcceptedEvent[] | RequestError> {
    const claim = new Claim(keyed);
    await lane.add(claim.sent, bytes, claim);
    if (claim.refusal !== undefined) return claim.refusal;
    if (claim.committed) this.#options.metrics.replays.inc(claim.events.length);
    // The events must have the identities of an earlier attempt, which the job did not know.
    else if (!claim.isNew) await this.#enqueueReserved([claim], lane);
    return claim.events;
  }

  async #enqueueReserving(
    groups: readonly EventGroup[],
    which: 'all' | 'each',
    lane: Lane,
  ): Promise<(readonly AcceptedEvent[] | RequestError)[]> {
    const results = await this.#reserve(groups);
    const usable = results.filter((result): result is Claim | EventGroup => !(result instanceof RequestError));
    const fresh = usable.filter((group) => !isReplay(group));
    if (which === 'all' && usable.length < results.length) {
      for (const group of fresh) if (group instanceof Claim) this.#keys.undo(group);
    } else {
      for (const { events } of usable.filter(isReplay)) this.#options.metrics.replays.inc(events.length);
      if (fresh.length > 0) await this.#enqueueReserved(fresh, lane);
    }
    return results.map((result) => (result instanceof RequestError ? result : result.events));
  }

  /**
   * What each group may record, in order. If one key gets no answer, none can be used: the others
   * are given up, so that a repeat need not wait for their leases.
   */
  async #reserve(groups: readonly EventGroup[]): Promise<(Claim | EventGroup | RequestError)[]> {
    const asked = groups.map(async (group) => (hasKey(group) ? this.#keys.reserve(group) : group));
    try {
      return await Promise.all(asked);
    } catch (error) {
      for (const one of await Promise.allSettled(asked)) {
        if (one.status === 'fulfilled' && one.value instanceof Claim && !one.value.committed)
          this.#keys.undo(one.value);
      }
      throw error;
    }
  }

  /** The caller does not wait for the updates of the keys. */
  async #enqueueReserved(groups: readonly (Claim | EventGroup)[], lane: Lane): Promise<void> {
    const claims = groups.filter((group) => group instanceof Claim);
    try {
      await lane.add(groups.flatMap(({ events }) => events));
    } catch (error) {
      // Without this, a retry gets 409 until the lease ends.
      for (const claim of claims) this.#keys.release(claim);
      throw error;
    }
    // Without the mark, a retry enqueues the same identities, which is harmless. The mark cannot
    // join the pipeline that adds the job: Redis may refuse the job, and its keys must then not be
    // marked.
    for (const claim of claims) this.#keys.markCommitted(claim);
  }
}

/** The overflow lane has one commit at a time, and a quarter of the buffer. */
function createOverflowLane(options: ProducerOptions & Pick<LaneOptions, 'keys' | 'limits' | 'rest'>): Lane {
  const { metrics, limits } = options;
  const notes = options.shards.all.map(({ redis, queueName }) => new OverflowNotes(redis, queueName));
  return new Lane({
    ...options,
    queueOf: overflowQueue,
    limits: {
      ...limits,
      commitsInFlight: 1,
      bufferedEvents: Math.ceil(limits.bufferedEvents / 4),
      bufferedBytes: Math.ceil(limits.bufferedBytes / 4),
    },
    before: async (events, shard) => notes[shard]?.note(events.map(({ organization }) => organization)),
    onCommitted: (events) => {
      for (const { organization } of events)
        metrics.overflowed.inc({ organization: metrics.organization(organization) });
    },
  });
}

function reasonOf(error: unknown): RejectionReason {
  if (error instanceof BufferFull) return 'buffer-full';
  return error instanceof Unacknowledged ? 'unacknowledged' : 'commit-failed';
}

/** @throws {RequestError} in place of the event. */
function eventIn([result]: readonly (readonly AcceptedEvent[] | RequestError)[]): AcceptedEvent {
  if (result instanceof RequestError) throw result;
  const [event] = result ?? [];
  if (event === undefined) throw new Error('the event has no result');
  return event;
}

function isReplay(group: Claim | EventGroup): boolean {
  return group instanceof Claim && group.committed;
}

function hasKey(group: EventGroup): group is Keyed {
  return group.key !== undefined;
}
