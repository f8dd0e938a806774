/** Limits of a batch, in events and bytes. */
export interface BatchLimits {
  batchEvents: number;
  batchBytes: number;
}

/** Events that stay together in one batch: their number, and their memory in bytes. */
export interface Portion {
  readonly count: number;
  readonly bytes: number;
}

/** Portions that wait for a batch, in order of arrival. */
export class BatchQueue<Waiting extends Portion> {
  readonly #limits: BatchLimits;
  #waiting: Waiting[] = [];
  #count = 0;
  #bytes = 0;

  constructor(limits: BatchLimits) {
    this.#limits = limits;
  }

  /** Waiting portions. */
  get length(): number {
    return this.#waiting.length;
  }

  /** Waiting events. */
  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** True when the waiting portions fill a batch. */
  get fillsBatch(): boolean {
    return this.#count >= this.#limits.batchEvents || this.#bytes >= this.#limits.batchBytes;
  }

  add(portion: Waiting): void {
    this.#waiting.push(portion);
    this.#count += portion.count;
    this.#bytes += portion.bytes;
  }

  /** Takes as many portions as a batch may hold, at least one. */
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
