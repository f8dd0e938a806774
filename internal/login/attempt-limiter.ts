/** Attempts that fail within the period before further ones are refused. */
const mostFailures = 20;
const periodMs = 60_000;

/** Most addresses that are remembered; past it all are forgotten. */
const mostAddresses = 10_000;

/**
 * Limits the logins of an address that make the console ask the provider. An attempt counts from
 * its begin, so that many at once are no way around it, until it has succeeded.
 */
export class AttemptLimiter {
  readonly #now: () => number;
  readonly #failures = new Map<string, { count: number; endsAt: number }>();

  /** @param now a monotonic clock, in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Counts an attempt. Returns undefined, or after how many seconds the next one may begin. */
  begin(address: string): number | undefined {
    const now = this.#now();
    const known = this.#failures.get(address);
    if (known === undefined || known.endsAt <= now) {
      if (known === undefined && this.#failures.size >= mostAddresses) this.#failures.clear();
      this.#failures.set(address, { count: 1, endsAt: now + periodMs });
      return undefined;
    }
    if (known.count >= mostFailures) return Math.ceil((known.endsAt - now) / 1_000);
    known.count += 1;
    return undefined;
  }

  /** The attempt was a login: it does not count. */
  succeeded(address: string): void {
    const known = this.#failures.get(address);
    if (known !== undefined) known.count = Math.max(0, known.count - 1);
  }
}
