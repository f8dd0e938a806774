/**
 * Starts batches: at the end of the current event-loop turn, but at least `intervalMs` after the
 * last start, or `leastMs` if asked to start at once. Events that arrive meanwhile share the batch.
 */
export class BatchScheduler {
  readonly #begin: () => void;
  readonly #intervalMs: number;
  readonly #leastMs: () => number;
  #soon: NodeJS.Immediate | undefined;
  #later: NodeJS.Timeout | undefined;
  #dueAt = -Infinity;
  #begunAt = -Infinity;

  constructor(begin: () => void, intervalMs: number, leastMs: () => number = () => 0) {
    this.#begin = begin;
    this.#intervalMs = intervalMs;
    this.#leastMs = leastMs;
  }

  /** Calls `begin` once, at the next start, for any number of calls. The last call decides when. */
  schedule(atOnce: boolean): void {
    if (this.#soon) return;
    const dueAt = this.#begunAt + (atOnce ? this.#leastMs() : this.#intervalMs);
    if (this.#later && dueAt === this.#dueAt) return;
    this.cancel();
    this.#dueAt = dueAt;
    const pause = dueAt - performance.now();
    if (pause > 0) this.#later = setTimeout(() => this.#run(), pause);
    else this.#soon = setImmediate(() => this.#run());
  }

  /** Records the start of a batch. */
  begun(): void {
    this.#begunAt = performance.now();
  }

  cancel(): void {
    clearTimeout(this.#later);
    clearImmediate(this.#soon);
    this.#later = this.#soon = undefined;
  }

  #run(): void {
    this.cancel();
    this.#begin();
  }
}
