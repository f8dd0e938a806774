/** Limits of a batch, in events and bytes. */
export interface BatchLimits {
  batchEvents: number;
  batchBytes: number;
}

/** Events that stay together in one batch: their number, and their memory in bytes. */
export interface Portion {
  readonly count: number;
  readonly bytes: number;
  /** Portions of one group get a batch of their own if they nearly fill it. Default: no group. */
  readonly group?: string | undefined;
}

/** How full a group makes its own batch at least: many small batches would cost more. */
const nearlyFull = 0.75;

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

  /**
   * Takes the oldest portions, as many as a batch may hold and at least one. If the group of the
   * oldest portion nearly fills a batch, takes that group's only.
   */
  takeBatch(): Waiting[] {
    const group = this.#waiting[0]?.group;
    const own = group === undefined ? [] : this.#first(this.#waiting.filter((portion) => portion.group === group));
    return this.#isNearlyFull(own) ? this.#take(own) : this.#take(this.#first(this.#waiting));
  }

  takeAll(): Waiting[] {
    return this.#take([...this.#waiting]);
  }

  /** The first ones that fit into a batch, at least one. */
  #first(portions: readonly Waiting[]): Waiting[] {
    let [count, bytes] = [0, 0];
    const tooMuch = portions.findIndex((portion, index) => {
      count += portion.count;
      bytes += portion.bytes;
      return index > 0 && (count > this.#limits.batchEvents || bytes > this.#limits.batchBytes);
    });
    return portions.slice(0, tooMuch === -1 ? portions.length : tooMuch);
  }

  #isNearlyFull(portions: readonly Waiting[]): boolean {
    const { batchEvents, batchBytes } = this.#limits;
    const [count, bytes] = sumOf(portions);
    return count >= batchEvents * nearlyFull || bytes >= batchBytes * nearlyFull;
  }

  #take(portions: Waiting[]): Waiting[] {
    const isPrefix = portions.at(-1) === this.#waiting[portions.length - 1];
    const taken = new Set(isPrefix ? [] : portions);
    this.#waiting = isPrefix
      ? this.#waiting.slice(portions.length)
      : this.#waiting.filter((portion) => !taken.has(portion));
    const [count, bytes] = sumOf(portions);
    this.#count -= count;
    this.#bytes -= bytes;
    return portions;
  }
}

function sumOf(portions: readonly Portion[]): [count: number, bytes: number] {
  let [count, bytes] = [0, 0];
  for (const portion of portions) {
    count += portion.count;
    bytes += portion.bytes;
  }
  return [count, bytes];
}
