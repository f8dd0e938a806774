/** Failed attempts within the period after which further ones are refused. */
const mostFailures = 20;
const periodMs = 60_000;

/** Maximum number of addresses remembered; beyond it, all are forgotten. */
const mostAddresses = 10_000;

/**
 * Limits the login attempts per address that make the console ask the provider. An attempt counts
 * from its start until it succeeds, so concurrent attempts do not evade the limit.
 */
export class AttemptLimiter {
  readonly #now: () => number;
  readonly #failures = new Map<string, { count: number; endsAt: number }>();

  /** @param now a monotonic clock, in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Counts an attempt. Returns undefined, or the number of seconds until the next one may begin.
   */
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

  /** The attempt succeeded, so it no longer counts. */
  succeeded(address: string): void {
    const known = this.#failures.get(address);
    if (known !== undefined) known.count = Math.max(0, known.count - 1);
  }
}
