/** When the sealer works. */
export interface SealerLimits {
  /** Time between two checkpoints of a slowly growing log, in ms. */
  intervalMs: number;
  /** Stored events after which the next checkpoint follows immediately. */
  events: number;
  /**
   * Most leaves between two checkpoints. More than `events`, so that a round signs only once while
   * the worker stores events.
   */
  mostLeaves: number;
  /** Pause after a failure, in ms. */
  retryMs: number;
  /** How long after a full statement a drain counts as going on, in ms. */
  drainMs: number;
  /** How long sealing waits for the end of a drain, in ms. */
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
 * Decides when a round of the sealer is due: immediately after many stored events; after few, once
 * the last round is old enough. While the worker drains a backlog no round is due, so that the
 * queue empties sooner.
 */
export class SealSchedule {
  readonly #limits: SealerLimits;
  /** Events that this worker has stored since the last round began. */
  #stored = 0;
  /** Start of the last round that placed leaves or left the turn to another worker, in ms. */
  #sealedAt = -Infinity;
  /** When the worker stored its last statement if that was full, in ms; otherwise `-Infinity`. */
  #fullAt = -Infinity;

  constructor(limits: SealerLimits) {
    this.#limits = limits;
  }

  /** Records that the worker has stored events, and whether they filled a statement. */
  onStored(events: number, full: boolean): void {
    this.#fullAt = full ? performance.now() : -Infinity;
    this.#stored += events;
  }

  /** Records the start of a round, which places everything stored before it. */
  onRound(): void {
    this.#stored = 0;
  }

  /** Records the start, in ms, of a round that placed leaves or left the turn to another worker. */
  onPlaced(beganAt: number): void {
    this.#sealedAt = beganAt;
  }

  /** True if the next round should start now. */
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
