/** Keeps what was used last, up to a total weight. A value that is loading is shared. */
export class BoundedCache<Value> {
  readonly #most: number;
  readonly #weightOf: (value: Value) => number;
  /** The one used last comes last. */
  readonly #values = new Map<string, Promise<Value>>();
  readonly #weights = new Map<string, number>();
  #weight = 0;

  constructor(most: number, weightOf: (value: Value) => number) {
    this.#most = most;
    this.#weightOf = weightOf;
  }

  /** Loads a value that is not there. A failure is not kept. */
  async get(key: string, load: () => Promise<Value>): Promise<Value> {
    const known = this.#values.get(key);
    const value = known ?? load();
    this.#values.delete(key);
    this.#values.set(key, value);
    if (known !== undefined) return known;
    try {
      this.#add(key, this.#weightOf(await value));
    } catch (error) {
      this.#values.delete(key);
      throw error;
    }
    return value;
  }

  #add(key: string, weight: number): void {
    this.#weights.set(key, weight);
    this.#weight += weight;
    for (const oldest of this.#values.keys()) {
      if (this.#weight <= this.#most) return;
      const freed = this.#weights.get(oldest);
      // It is still loading, and has no weight yet.
      if (freed === undefined) continue;
      this.#values.delete(oldest);
      this.#weights.delete(oldest);
      this.#weight -= freed;
    }
  }
}
