/** Runs work after changes. Changes within the delay share one run. */
export class Settling {
  readonly #delayMs: number;
  readonly #work: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(delayMs: number, work: () => void) {
    this.#delayMs = delayMs;
    this.#work = work;
  }

  /** Runs the work after the delay. */
  changed(): void {
    this.#timer ??= setTimeout(() => this.now(), this.#delayMs);
  }

  /** Runs the work at once. */
  now(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#work();
  }

  /** Runs the work at once if it is due. */
  flush(): void {
    if (this.#timer !== undefined) this.now();
  }
}
