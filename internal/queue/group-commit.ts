import { BatchScheduler } from '../kit/async/batch-scheduler.ts';
import { BatchQueue, type BatchLimits, type Portion } from '../kit/async/batch-queue.ts';
import type { AcceptedEvent } from '../event/event.ts';
import { heldBytes } from '../event/held-bytes.ts';
import type { Claim, JobClaim } from './keys/idempotency.ts';

/**
 * Limits of the group commit: size of a batch and of the buffer, concurrent commits, time between
 * the starts of two commits (ms), and longest wait of an event (ms).
 */
export interface GroupCommitLimits extends BatchLimits {
  bufferedEvents: number;
  bufferedBytes: number;
  commitsInFlight: number;
  intervalMs: number;
  answerWithinMs: number;
}

/**
 * Live counters of callers, read on every `add()`: open connections, and connections opened so far.
 */
export interface Callers {
  readonly open: number;
  readonly opened: number;
}

/** The buffer of waiting events is full. */
export class BufferFull extends Error {
  override readonly name = 'BufferFull';
}

/** Makes events durable, and their keys. `bytes`: an estimate of the memory that they take. */
type Commit = (events: AcceptedEvent[], bytes: number, claims: readonly JobClaim[]) => Promise<void>;

/** The events of one request, which stay in one commit. */
interface WaitingEvents extends Portion {
  events: readonly AcceptedEvent[];
  claim: Claim | undefined;
  since: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Joins events that arrive during a commit into the next one. Commits immediately when a lone
 * event, or the events of all connected callers, wait. Rejects events past `bufferedEvents` or
 * `bufferedBytes`.
 */
export class GroupCommit {
  readonly #commit: Commit;
  readonly #limits: GroupCommitLimits;
  readonly #callers: Callers;
  readonly #scheduler: BatchScheduler;
  readonly #waiting: BatchQueue<WaitingEvents>;
  #inFlight = 0;
  #openedBefore = 0;
  #onDrained: (() => void)[] = [];

  constructor(commit: Commit, limits: GroupCommitLimits, callers: Callers) {
    this.#commit = commit;
    this.#limits = limits;
    this.#callers = callers;
    this.#scheduler = new BatchScheduler(() => this.#begin(), limits.intervalMs);
    this.#waiting = new BatchQueue(limits);
  }

  get buffered(): number {
    return this.#waiting.count;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /**
   * Resolves when the commit of the events resolves; a claim then knows whether they are in it.
   * Rejects with the commit's error, when the commit takes too long (it may still succeed), or
   * immediately with {@link BufferFull}.
   */
  add(events: readonly AcceptedEvent[], bytes = heldBytesOf(events), claim?: Claim): Promise<void> {
    const count = events.length;
    if (this.#isFullFor(count, bytes)) return Promise.reject(new BufferFull());
    return new Promise((resolve, reject) => {
      this.#waiting.add({ events, claim, count, bytes, since: performance.now(), resolve, reject });
      this.#schedule();
    });
  }

  /** A lone request always fits, or every retry of it would fail. */
  #isFullFor(count: number, bytes: number): boolean {
    const { bufferedEvents, bufferedBytes } = this.#limits;
    const waiting = this.#waiting;
    return waiting.length > 0 && (waiting.count + count > bufferedEvents || waiting.bytes + bytes > bufferedBytes);
  }

  /** Resolves when nothing waits and no commit is under way. */
  drain(): Promise<void> {
    if (this.#drained) return Promise.resolve();
    return new Promise((resolve) => this.#onDrained.push(resolve));
  }

  get #drained(): boolean {
    return this.#inFlight === 0 && this.#waiting.length === 0;
  }

  #schedule(): void {
    if (this.#mayBegin) this.#scheduler.schedule(this.#waiting.fillsBatch || this.#everybodyWaits);
  }

  #begin(): void {
    while (this.#mayBegin) void this.#commitBatch(this.#waiting.takeBatch());
  }

  /** During a commit, only a full batch starts another; other events wait and share one. */
  get #mayBegin(): boolean {
    if (this.#inFlight === 0) return this.#waiting.length > 0;
    return this.#waiting.fillsBatch && this.#inFlight < this.#limits.commitsInFlight;
  }

  /**
   * True when no other caller can send an event soon. False while new connections arrive: a caller
   * that connects for each event is not connected before it sends.
   */
  get #everybodyWaits(): boolean {
    const { open, opened } = this.#callers;
    return this.#waiting.length >= open && opened === this.#openedBefore;
  }

  /**
   * Runs one timer for each batch, set by its oldest event. A timer for each event would cost more
   * than the commit.
   */
  async #commitBatch(batch: WaitingEvents[]): Promise<void> {
    this.#inFlight += 1;
    this.#scheduler.begun();
    this.#openedBefore = this.#callers.opened;
    const waited = performance.now() - (batch[0]?.since ?? 0);
    const tooLate = (): void => this.#failBatchAndWaiting(batch, new Error('redis takes too long'));
    const timer = setTimeout(tooLate, Math.max(0, this.#limits.answerWithinMs - waited));
    try {
      const events: AcceptedEvent[] = [];
      const claims: JobClaim[] = [];
      let bytes = 0;
      for (const portion of batch) {
        if (portion.claim !== undefined) claims.push({ claim: portion.claim, from: events.length });
        events.push(...portion.events);
        bytes += portion.bytes;
      }
      await this.#commit(events, bytes, claims);
      for (const { resolve } of batch) resolve();
    } catch (error) {
      this.#failBatchAndWaiting(batch, error);
    } finally {
      clearTimeout(timer);
      this.#inFlight -= 1;
      this.#schedule();
      if (this.#drained) for (const resolve of this.#onDrained.splice(0)) resolve();
    }
  }

  /** Events behind a failed commit fail with it; they would only wait for the same time-out. */
  #failBatchAndWaiting(batch: WaitingEvents[], error: unknown): void {
    for (const { reject } of [...batch, ...this.#waiting.takeAll()]) reject(error);
  }
}

/** Estimates the memory that events take, in bytes. */
export function heldBytesOf(events: readonly AcceptedEvent[]): number {
  let bytes = 0;
  for (const event of events) bytes += heldBytes(event);
  return bytes;
}
