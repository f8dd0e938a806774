/** How many records of one kind pass in a window. */
export interface RepeatLimits {
  burst: number;
  windowMs: number;
}

/** Kinds remembered at most. When there are more, the window begins anew for all of them. */
const mostKinds = 1_000;

/**
 * Keeps a fault that repeats from flooding the log: of each kind of record the first few in a
 * window pass, the rest are counted, and the first of the next window says how many were left out.
 */
export class RepeatLimit {
  readonly #limits: RepeatLimits;
  readonly #now: () => number;
  readonly #kinds = new Map<string, { since: number; seen: number }>();

  constructor(limits: RepeatLimits = { burst: 10, windowMs: 60_000 }, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /**
   * Undefined when the record is to be left out; else the number of its kind that were left out
   * before it.
   */
  pass(kind: string): number | undefined {
    const now = this.#now();
    const window = this.#kinds.get(kind);
    if (window !== undefined && now - window.since < this.#limits.windowMs) {
      window.seen += 1;
      return window.seen <= this.#limits.burst ? 0 : undefined;
    }
    if (this.#kinds.size >= mostKinds) this.#kinds.clear();
    this.#kinds.set(kind, { since: now, seen: 1 });
    return Math.max(0, (window?.seen ?? 0) - this.#limits.burst);
  }
}
