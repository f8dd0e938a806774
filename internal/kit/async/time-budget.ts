import { within } from './within.ts';

/** A time that several steps share. */
export class TimeBudget {
  readonly #until: number;

  constructor(ms: number) {
    this.#until = performance.now() + ms;
  }

  /** The time that is left, in ms. */
  get leftMs(): number {
    return Math.max(0, this.#until - performance.now());
  }

  /** Resolves with the result of `work`. Rejects when the time is up; `work` continues. */
  within<T>(work: Promise<T>): Promise<T> {
    return within(this.leftMs, work);
  }
}
