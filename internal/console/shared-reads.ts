/** Shares reads among viewers: those of one key within a short time get the same answer. */
export class SharedReads<Value> {
  readonly #forMs: number;
  readonly #now: () => number;
  readonly #reads = new Map<string, { at: number; value: Promise<Value> }>();

  /** @param now a monotonic clock, in ms. */
  constructor(forMs: number, now: () => number = () => performance.now()) {
    this.#forMs = forMs;
    this.#now = now;
  }

  /**
   * The answer of a read that began within the last `forMs`, or of a new one. Failures are not
   * kept.
   */
  get(key: string, read: () => Promise<Value>): Promise<Value> {
    const now = this.#now();
    for (const [old, { at }] of this.#reads) if (now - at >= this.#forMs) this.#reads.delete(old);
    const known = this.#reads.get(key);
    if (known !== undefined) return known.value;
    const value = read();
    this.#reads.set(key, { at: now, value });
    value.catch(() => this.#reads.delete(key));
    return value;
  }
}
