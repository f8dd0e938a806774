/** Longest time between two turns of the event loop that counts in full, in ms. */
const longestTurnMs = 50;

/**
 * Counts the time in which this process could run. A limit of Runledger is measured with it: a busy
 * machine pauses processes for seconds, and a pause counts as 50 ms.
 */
export class AwakeClock {
  readonly #timer = setInterval(() => this.now(), 10).unref();
  #awake = 0;
  #last = performance.now();

  /** The time so far, in ms. */
  now(): number {
    const at = performance.now();
    this.#awake += Math.min(at - this.#last, longestTurnMs);
    this.#last = at;
    return this.#awake;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
