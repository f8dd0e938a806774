/** Bounds of a batch, in events and bytes. */
export interface BatchLimits {
  batchEvents: number;
  batchBytes: number;
}

/**
 * What is not split between batches: so many events of so many bytes (UTF-16 units of what may be
 * long, near enough).
 */
export interface Portion {
  readonly count: number;
  readonly bytes: number;
}

/** What waits for a batch, in the order it came. */
export class BatchQueue<Waiting extends Portion> {
  readonly #limits: BatchLimits;
  #waiting: Waiting[] = [];
  #count = 0;
  #bytes = 0;

  constructor(limits: BatchLimits) {
    this.#limits = limits;
  }

  /** Portions that wait. */
  get length(): number {
    return this.#waiting.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** True when one batch need not take more. */
  get fillsBatch(): boolean {
    return this.#count >= this.#limits.batchEvents || this.#bytes >= this.#limits.batchBytes;
  }

  add(portion: Waiting): void {
    this.#waiting.push(portion);
    this.#count += portion.count;
    this.#bytes += portion.bytes;
  }

  /** As much as one batch may hold, and at least one portion. */
  takeBatch(): Waiting[] {
    let [count, bytes] = [0, 0];
    const tooMuch = this.#waiting.findIndex((portion, index) => {
      count += portion.count;
      bytes += portion.bytes;
      return index > 0 && (count > this.#limits.batchEvents || bytes > this.#limits.batchBytes);
    });
    return this.#take(tooMuch === -1 ? this.#waiting.length : tooMuch);
  }

  takeAll(): Waiting[] {
    return this.#take(this.#waiting.length);
  }

  #take(portions: number): Waiting[] {
    const taken = this.#waiting.splice(0, portions);
    for (const { count, bytes } of taken) {
      this.#count -= count;
      this.#bytes -= bytes;
    }
    return taken;
  }
}
