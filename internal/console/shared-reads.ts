/** Reads that viewers share: those of one key within a short time get one answer. */
export class SharedReads<Value> {
  readonly #forMs: number;
  readonly #now: () => number;
  readonly #reads = new Map<string, { at: number; value: Promise<Value> }>();

  /** @param now a monotonic clock, in ms. */
  constructor(forMs: number, now: () => number = () => performance.now()) {
    this.#forMs = forMs;
    this.#now = now;
  }

  /** The answer of a read that began within `forMs`, or of a new one. No failure is kept. */
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
