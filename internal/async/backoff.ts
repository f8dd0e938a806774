export interface BackoffOptions {
  /** The longest first pause, in milliseconds. */
  readonly firstMs: number;
  /** The longest pause of all, in milliseconds. */
  readonly longestMs: number;
}

/**
 * Pauses between attempts: each up to twice the last, and a random part of it, so that pods do not
 * come in step.
 */
export class Backoff {
  readonly #options: BackoffOptions;
  #attempts = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** The next pause in milliseconds: at least half of what it may be at most. */
  next(): number {
    const { firstMs, longestMs } = this.#options;
    const most = Math.min(longestMs, firstMs * 2 ** this.#attempts);
    if (most < longestMs) this.#attempts += 1;
    return most * (0.5 + Math.random() / 2);
  }

  reset(): void {
    this.#attempts = 0;
  }
}
