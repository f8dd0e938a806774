import { BatchScheduler } from '../batching/batch-scheduler.ts';
import { BatchQueue, type BatchLimits, type Portion } from '../batching/batch-queue.ts';
import type { AcceptedEvent } from '../event/event.ts';
import { textsOf } from '../event/fields.ts';

/**
 * Bounds of the group commit: of a batch, of all that waits, commits at once, the time from the
 * beginning of one commit to the next for which somebody may still send events, and how long an
 * event waits for its commit (both in ms).
 */
export interface GroupCommitLimits extends BatchLimits {
  bufferedEvents: number;
  bufferedBytes: number;
  commitsInFlight: number;
  intervalMs: number;
  answerWithinMs: number;
}

/**
 * Who may send events: connections that are open, and all that were opened so far. As they are now:
 * looked at for each event.
 */
export interface Callers {
  readonly open: number;
  readonly opened: number;
}

/** No more events may wait for a commit. */
export class BufferFull extends Error {
  override readonly name = 'BufferFull';
}

interface WaitingEvent extends Portion {
  event: AcceptedEvent;
  since: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Coalesces events that arrive while commits are under way into one commit each (group commit). A
 * lone event is committed at once, and so are the events of all who are connected; under load
 * batches grow by themselves up to the limits. Memory is bounded: past `bufferedEvents` or
 * `bufferedBytes` events are refused.
 */
export class GroupCommit {
  readonly #commit: (events: AcceptedEvent[]) => Promise<void>;
  readonly #limits: GroupCommitLimits;
  readonly #callers: Callers;
  readonly #scheduler: BatchScheduler;
  readonly #waiting: BatchQueue<WaitingEvent>;
  #inFlight = 0;
  #openedBefore = 0;
  #onDrained: (() => void)[] = [];

  constructor(commit: (events: AcceptedEvent[]) => Promise<void>, limits: GroupCommitLimits, callers: Callers) {
    this.#commit = commit;
    this.#limits = limits;
    this.#callers = callers;
    this.#scheduler = new BatchScheduler(() => this.#begin(), limits.intervalMs);
    this.#waiting = new BatchQueue(limits);
  }

  get buffered(): number {
    return this.#waiting.length;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /**
   * Resolves when the commit that holds the event has. Rejects with that commit's error, when it
   * takes too long (it may succeed later all the same), or at once with {@link BufferFull}.
   */
  add(event: AcceptedEvent): Promise<void> {
    const bytes = sizeOf(event);
    if (this.#isFullFor(bytes)) return Promise.reject(new BufferFull());
    return new Promise((resolve, reject) => {
      this.#waiting.add({ event, count: 1, bytes, since: performance.now(), resolve, reject });
      this.#schedule();
    });
  }

  /** An event alone is never too much: it would be refused however often it is sent. */
  #isFullFor(bytes: number): boolean {
    const { bufferedEvents, bufferedBytes } = this.#limits;
    const { length } = this.#waiting;
    return length >= bufferedEvents || (length > 0 && this.#waiting.bytes + bytes > bufferedBytes);
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

  /**
   * While a commit is under way, only a full batch begins another: what waits a moment longer
   * shares one.
   */
  get #mayBegin(): boolean {
    if (this.#inFlight === 0) return this.#waiting.length > 0;
    return this.#waiting.fillsBatch && this.#inFlight < this.#limits.commitsInFlight;
  }

  /**
   * True when nobody else can send an event soon. Not while new connections come: callers that
   * connect for each event are not connected before they send it.
   */
  get #everybodyWaits(): boolean {
    const { open, opened } = this.#callers;
    return this.#waiting.length >= open && opened === this.#openedBefore;
  }

  /**
   * One timer a batch, set by its oldest event: one an event would cost ingest more than the
   * commit.
   */
  async #commitBatch(batch: WaitingEvent[]): Promise<void> {
    this.#inFlight += 1;
    this.#scheduler.begun();
    this.#openedBefore = this.#callers.opened;
    const waited = performance.now() - (batch[0]?.since ?? 0);
    const tooLate = (): void => this.#failBatchAndWaiting(batch, new Error('redis takes too long'));
    const timer = setTimeout(tooLate, Math.max(0, this.#limits.answerWithinMs - waited));
    try {
      await this.#commit(batch.map(({ event }) => event));
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

  /**
   * What waits behind a failed commit fails with it: it would only wait for the same time-out
   * again.
   */
  #failBatchAndWaiting(batch: WaitingEvent[], error: unknown): void {
    for (const { reject } of [...batch, ...this.#waiting.takeAll()]) reject(error);
  }
}

/** Bytes of JSON, estimated: about 150 for the fixed fields, and the length of each text. */
function sizeOf(event: AcceptedEvent): number {
  return textsOf(event).reduce((sum, text) => sum + text.length, 150 + event.executionId.length);
}
