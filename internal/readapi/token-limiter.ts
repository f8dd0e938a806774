export interface TokenLimits {
  /** Requests a second. A token that was idle for a second may send as many at once. */
  rate: number;
  /** Requests under way at once. */
  concurrency: number;
}

/** Why a request of a token is rejected. */
export type Rejection = 'rate' | 'concurrency';

/** The use of one token: a token bucket and the number of requests under way. */
interface Usage {
  /** Requests that might have started at the time `at`, in ms. */
  free: number;
  at: number;
  running: number;
}

/** Number of usages from which the limiter forgets those of idle tokens. */
const leastToSweep = 1_000;

/** Limits the requests of each token, by the token's id. */
export class TokenLimiter {
  readonly #limits: TokenLimits;
  readonly #now: () => number;
  readonly #usages = new Map<string, Usage>();
  #sweepAt = leastToSweep;

  /** @param now a monotonic clock, in ms. */
  constructor(limits: TokenLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Starts a request: returns the function that ends it, or why the request is rejected. */
  take(tokenId: string): (() => void) | Rejection {
    const usage = this.#usageOf(tokenId);
    usage.free = this.#freeNow(usage);
    usage.at = this.#now();
    if (usage.running >= this.#limits.concurrency) return 'concurrency';
    if (usage.free < 1) return 'rate';
    usage.free -= 1;
    usage.running += 1;
    return () => {
      usage.running -= 1;
    };
  }

  #usageOf(tokenId: string): Usage {
    const known = this.#usages.get(tokenId);
    if (known !== undefined) return known;
    if (this.#usages.size >= this.#sweepAt) this.#forgetIdle();
    const usage = { free: this.#limits.rate, at: this.#now(), running: 0 };
    this.#usages.set(tokenId, usage);
    return usage;
  }

  #freeNow({ free, at }: Usage): number {
    const { rate } = this.#limits;
    return Math.min(rate, free + ((this.#now() - at) / 1_000) * rate);
  }

  /** Forgets idle tokens with a full bucket, which are equal to new ones. */
  #forgetIdle(): void {
    for (const [tokenId, usage] of this.#usages) {
      if (usage.running === 0 && this.#freeNow(usage) >= this.#limits.rate) this.#usages.delete(tokenId);
    }
    this.#sweepAt = Math.max(leastToSweep, 2 * this.#usages.size);
  }
}
