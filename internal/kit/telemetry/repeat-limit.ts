/** How many records of one kind pass in a window. */
export interface RepeatLimits {
  burst: number;
  windowMs: number;
}

/** Most kinds to remember. Beyond it the window restarts for all. */
const mostKinds = 1_000;

/**
 * Keeps a repeated fault from flooding the log. The first records of each kind pass, the rest are
 * counted, and the first record of the next window reports that count.
 */
export class RepeatLimit {
  readonly #limits: RepeatLimits;
  readonly #now: () => number;
  readonly #kinds = new Map<string, { since: number; seen: number }>();

  constructor(limits: RepeatLimits = { burst: 10, windowMs: 60_000 }, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Undefined to suppress the record; otherwise how many were suppressed before it. */
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
