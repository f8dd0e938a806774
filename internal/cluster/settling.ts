/** The share of time that the work may take, even if some object changes all the time. */
const share = 0.1;

/** Runs work after changes. Changes within the delay share one run. */
export class Settling {
  readonly #delayMs: number;
  readonly #work: () => void;
  /** How long the last run took, in ms. */
  #tookMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(delayMs: number, work: () => void) {
    this.#delayMs = delayMs;
    this.#work = work;
  }

  /** Runs the work after the delay. */
  changed(): void {
    this.#timer ??= setTimeout(() => this.now(), Math.max(this.#delayMs, this.#tookMs / share));
  }

  /** Runs the work at once. */
  now(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const begun = performance.now();
    this.#work();
    this.#tookMs = performance.now() - begun;
  }

  /** Runs the work at once if it is due. */
  flush(): void {
    if (this.#timer !== undefined) this.now();
  }
}
