import { BatchPace } from '../event/batch-pace.ts';
import type { AcceptedEvent } from '../event/event.ts';
import { unavailable } from '../event/refusal.ts';

/**
 * Bounds of the group commit: events and bytes (UTF-16 units, near enough) of a batch, of all that waits, commits at
 * once, the time from the beginning of one commit to the next that is not full, and how long an event waits for its
 * commit (both in ms).
 */
export interface GroupCommitLimits {
  batchEvents: number;
  batchBytes: number;
  commitsInFlight: number;
  bufferedEvents: number;
  bufferedBytes: number;
  intervalMs: number;
  answerWithinMs: number;
}

interface Waiting {
  event: AcceptedEvent;
  bytes: number;
  since: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Coalesces events that arrive while commits are under way into one commit each (group commit). A lone event is
 * committed at once; under load batches grow by themselves up to the limits. Memory is bounded: past
 * `bufferedEvents` or `bufferedBytes` events are refused.
 */
export class GroupCommit {
  readonly #commit: (events: AcceptedEvent[]) => Promise<void>;
  readonly #limits: GroupCommitLimits;
  readonly #pace: BatchPace;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #inFlight = 0;
  #onDrained: (() => void)[] = [];

  constructor(commit: (events: AcceptedEvent[]) => Promise<void>, limits: GroupCommitLimits) {
    this.#commit = commit;
    this.#limits = limits;
    this.#pace = new BatchPace(() => this.#begin(), limits.intervalMs);
  }

  get buffered(): number {
    return this.#waiting.length;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /**
   * Resolves when the commit that holds the event has. Rejects with that commit's error, when it takes too long (it may
   * succeed later all the same), or at once when the buffer is full.
   */
  add(event: AcceptedEvent): Promise<void> {
    const bytes = sizeOf(event);
    if (
      this.#waiting.length >= this.#limits.bufferedEvents ||
      this.#waitingBytes + bytes > this.#limits.bufferedBytes
    ) {
      return Promise.reject(unavailable('Too many events are waiting to be queued.'));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ event, bytes, since: performance.now(), resolve, reject });
      this.#waitingBytes += bytes;
      this.#schedule();
    });
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
    if (this.#mayBegin) this.#pace.schedule(this.#full);
  }

  #begin(): void {
    while (this.#mayBegin) void this.#commitBatch(this.#takeBatch());
  }

  /** While a commit is under way, only a full batch begins another: what waits a moment longer shares one. */
  get #mayBegin(): boolean {
    if (this.#inFlight === 0) return this.#waiting.length > 0;
    return this.#full && this.#inFlight < this.#limits.commitsInFlight;
  }

  get #full(): boolean {
    return this.#waiting.length >= this.#limits.batchEvents || this.#waitingBytes >= this.#limits.batchBytes;
  }

  /** One timer a batch, set by its oldest event: one an event would cost ingest more than the commit. */
  async #commitBatch(batch: Waiting[]): Promise<void> {
    this.#inFlight += 1;
    this.#pace.begun();
    const waited = performance.now() - (batch[0]?.since ?? 0);
    const tooLate = (): void => this.#fail(batch, new Error('redis takes too long'));
    const timer = setTimeout(tooLate, Math.max(0, this.#limits.answerWithinMs - waited));
    try {
      await this.#commit(batch.map(({ event }) => event));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      this.#fail(batch, error);
    } finally {
      clearTimeout(timer);
      this.#inFlight -= 1;
      this.#schedule();
      if (this.#drained) for (const resolve of this.#onDrained.splice(0)) resolve();
    }
  }

  /** What waits behind a failed commit fails with it: it would only wait for the same time-out again. */
  #fail(batch: Waiting[], error: unknown): void {
    for (const { reject } of [...batch, ...this.#takeAll()]) reject(error);
  }

  #takeBatch(): Waiting[] {
    let bytes = 0;
    const tooMuch = this.#waiting.findIndex((waiting, index) => {
      bytes += waiting.bytes;
      return index > 0 && (index >= this.#limits.batchEvents || bytes > this.#limits.batchBytes);
    });
    return this.#take(tooMuch === -1 ? this.#waiting.length : tooMuch);
  }

  #takeAll(): Waiting[] {
    return this.#take(this.#waiting.length);
  }

  #take(count: number): Waiting[] {
    const taken = this.#waiting.splice(0, count);
    for (const { bytes } of taken) this.#waitingBytes -= bytes;
    return taken;
  }
}

/** Fixed fields of an event take about 150 bytes of JSON; texts take their length. */
function sizeOf(event: AcceptedEvent): number {
  return (
    150 + event.executionId.length + event.description.length + event.errorId.length + event.errorDescription.length
  );
}
