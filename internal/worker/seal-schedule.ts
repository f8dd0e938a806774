/** When the sealer works. */
export interface SealerLimits {
  /** Time between two checkpoints of a log that grows slowly, in ms. */
  intervalMs: number;
  /** Stored events after which the next checkpoint comes at once. */
  events: number;
  /**
   * Most leaves between two checkpoints. More than `events`, so that a round signs once although
   * the worker stores events meanwhile.
   */
  mostLeaves: number;
  /** Pause after a failure, in ms. */
  retryMs: number;
  /** How long after a full statement a drain is taken to last, in ms. */
  drainMs: number;
  /** Longest wait for the end of a drain, in ms. */
  drainWaitMs: number;
}

/** The limits of each worker (docs/design/log.md). */
export const sealerLimits: SealerLimits = {
  intervalMs: 10_000,
  events: 10_000,
  mostLeaves: 15_000,
  retryMs: 2_000,
  drainMs: 1_000,
  drainWaitMs: 60_000,
};

/**
 * Tells when a round of the sealer is due: after many stored events at once, after few of them when
 * the last round is long enough ago. While the worker drains a backlog, no round is due, so that
 * the queue becomes empty sooner.
 */
export class SealSchedule {
  readonly #limits: SealerLimits;
  /** Events that this worker has stored since the last round began. */
  #stored = 0;
  /** Start of the last round that placed leaves, or left the turn to another worker; in ms. */
  #sealedAt = -Infinity;
  /** When the worker stored its last statement, if it was full; otherwise `-Infinity`. In ms. */
  #fullAt = -Infinity;

  constructor(limits: SealerLimits) {
    this.#limits = limits;
  }

  /** Notes that the worker has stored events, and whether they filled a statement. */
  onStored(events: number, full: boolean): void {
    this.#fullAt = full ? performance.now() : -Infinity;
    this.#stored += events;
  }

  /** Notes that a round begins: it places all that was stored before. */
  onRound(): void {
    this.#stored = 0;
  }

  /** Notes when a round began that placed leaves, or left the turn to another worker; in ms. */
  onPlaced(beganAt: number): void {
    this.#sealedAt = beganAt;
  }

  /** True if the next round should begin at once. */
  isDue(): boolean {
    if (this.isDraining()) return false;
    if (this.#stored >= this.#limits.events) return true;
    return this.#stored > 0 && performance.now() - this.#sealedAt >= this.#limits.intervalMs;
  }

  /** True while statements are full, many events wait, and the last round was not long ago. */
  isDraining(): boolean {
    const { events, drainMs, drainWaitMs } = this.#limits;
    const now = performance.now();
    return this.#stored >= events && now - this.#fullAt < drainMs && now - this.#sealedAt < drainWaitMs;
  }
}
