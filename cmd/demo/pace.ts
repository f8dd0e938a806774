import { setTimeout as sleep } from 'node:timers/promises';

/** Spaces calls of `next` evenly, over all callers. */
export class Pace {
  readonly #intervalMs: number;
  #due = performance.now();

  /** `rate`: calls a second; 0 never waits. */
  constructor(rate: number) {
    this.#intervalMs = rate === 0 ? 0 : 1_000 / rate;
  }

  async next(): Promise<void> {
    if (this.#intervalMs === 0) return;
    this.#due = Math.max(this.#due + this.#intervalMs, performance.now() - 1_000);
    const wait = this.#due - performance.now();
    if (wait > 1) await sleep(wait);
  }
}
