export interface BackoffOptions {
  /** The longest first pause, in ms. */
  readonly firstMs: number;
  /** The longest pause, in ms. */
  readonly longestMs: number;
}

/**
 * Pauses between attempts. Each is up to twice the last, with jitter, so that pods do not retry in
 * step.
 */
export class Backoff {
  readonly #options: BackoffOptions;
  #attempts = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Returns the next pause in ms: between half of the current bound and the bound. */
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
