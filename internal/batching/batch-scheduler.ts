/**
 * When the next batch of events begins: at the end of the current turn of the event loop, but not
 * before `intervalMs` have passed since the last one began, unless nothing is to be waited for.
 * What comes meanwhile shares it.
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

  /** Calls `begin` in time, once, however often it is scheduled until then. */
  schedule(atOnce: boolean): void {
    if (this.#soon || (this.#later && !atOnce)) return;
    const pause = atOnce ? 0 : this.#begunAt + this.#intervalMs - performance.now();
    if (pause > 0) this.#later = setTimeout(() => this.#run(), pause);
    else this.#soon = setImmediate(() => this.#run());
  }

  /** To be told when a batch has begun. */
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
