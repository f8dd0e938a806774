/**
 * Starts batches: at the end of the current event-loop turn, and at least `intervalMs` after the
 * last start unless the caller asks for one at once. Events that arrive meanwhile share the batch.
 */
export class BatchScheduler {
  readonly #begin: () => void;
  readonly #intervalMs: number;
  #soon: NodeJS.Immediate | undefined;
  #later: NodeJS.Timeout | undefined;
  #begunAt = -Infinity;

  constructor(begin: () => void, intervalMs: number) {
    this.#begin = begin;
    this.#intervalMs = intervalMs;
  }

  /** Calls `begin` once, at the next start, for any number of calls. */
  schedule(atOnce: boolean): void {
    if (this.#soon || (this.#later && !atOnce)) return;
    const pause = atOnce ? 0 : this.#begunAt + this.#intervalMs - performance.now();
    if (pause > 0) this.#later = setTimeout(() => this.#run(), pause);
    else this.#soon = setImmediate(() => this.#run());
  }

  /** Notes the start of a batch. */
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
