import { setTimeout as sleep } from 'node:timers/promises';
import { settledWithin } from '../async/settled-within.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { SealerMetrics } from '../telemetry/sealer-metrics.ts';

/** The operations of the store that the sealer needs. Each resolves with undefined out of turn. */
export interface SealedStore {
  /** Gives about so many waiting leaves their place; resolves with their number. */
  extendLogs(mostLeaves: number): Promise<number | undefined>;
  /** Signs a checkpoint of each log that has grown. */
  signLogs(): Promise<{ signed: number; refused: { organization: string; reason: string }[] } | undefined>;
  /** Sends checkpoints to the witnesses. */
  cosign(): Promise<void>;
  /** Makes a log for each organization that has events. */
  beginLogs(): Promise<void>;
  /** Adds leaves of events that were stored without one; also undefined if there are none. */
  sealExisting(): Promise<{ looked: number; added: number } | undefined>;
  /** Closes the connections to witnesses. */
  close?(): Promise<void>;
}

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
  /** Pause between two steps over events that were stored without a log, in ms. */
  existingPauseMs: number;
  /** Pause after a failure, in ms. */
  retryMs: number;
  /** How long after a full statement a drain is taken to last, in ms. */
  drainMs: number;
  /** Longest wait for the end of a drain, in ms. */
  drainWaitMs: number;
}

export const sealerLimits: SealerLimits = {
  intervalMs: 10_000,
  events: 10_000,
  mostLeaves: 15_000,
  existingPauseMs: 20,
  retryMs: 2_000,
  drainMs: 1_000,
  drainWaitMs: 60_000,
};

/** Longest wait of a stop for a round, in ms. Closing the database ends a round that hangs. */
const stopMs = 5_000;

/**
 * Extends the logs by the leaves that workers stored, and signs their checkpoints. Every worker
 * runs it; the store lets one at a time work. A crash leaves either the old or the new checkpoint:
 * a log is on disk before its checkpoint is signed. While the worker drains a backlog, rounds wait,
 * so that the queue becomes empty sooner.
 */
export class Sealer {
  readonly name = 'sealer';
  readonly #store: SealedStore;
  readonly #limits: SealerLimits;
  readonly #metrics: SealerMetrics;
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  #nap = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #stored = 0;
  /** When the last round began that was not for nothing, by the clock of the process. */
  #sealedAt = -Infinity;
  #begun = false;
  /** When to look again for events without a leaf, by the clock of the process. */
  #existingAt = -Infinity;
  /** When the worker stored its last full statement; of old if the last one was not full. */
  #fullAt = -Infinity;
  #failed = false;

  constructor(store: SealedStore, limits: SealerLimits, metrics: SealerMetrics, logger: Logger) {
    this.#store = store;
    this.#limits = limits;
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /** Starts in the background, with or without Postgres. */
  async start(): Promise<void> {
    this.#running = this.#repeat();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#nap.abort();
    await settledWithin(stopMs, this.#running);
    await this.#store.close?.();
  }

  /**
   * Notes that this worker has stored events, and whether they filled a statement. Many of them
   * begin a round at once; so does the first one after a quiet time.
   */
  note(events: number, full = false): void {
    this.#fullAt = full ? performance.now() : -Infinity;
    if (events === 0) return;
    this.#stored += events;
    if (this.#isDue()) this.#nap.abort();
  }

  #isDue(): boolean {
    if (this.#failed || this.#isDraining()) return false;
    if (this.#stored >= this.#limits.events) return true;
    return this.#stored > 0 && performance.now() - this.#sealedAt >= this.#limits.intervalMs;
  }

  /** True while statements are full, many events wait, and the last round was not long ago. */
  #isDraining(): boolean {
    const { events, drainMs, drainWaitMs } = this.#limits;
    const now = performance.now();
    return this.#stored >= events && now - this.#fullAt < drainMs && now - this.#sealedAt < drainWaitMs;
  }

  async #repeat(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#stored = 0;
      let pauseMs = await this.#round();
      do {
        this.#nap = new AbortController();
        if (this.#stopping.signal.aborted || this.#isDue()) break;
        await sleep(pauseMs, undefined, { signal: this.#nap.signal }).catch(() => undefined);
        pauseMs = this.#limits.drainMs;
      } while (this.#isDraining());
    }
  }

  /** Resolves with the pause before the next round, in ms; never rejects. */
  async #round(): Promise<number> {
    try {
      if (!this.#begun) await this.#store.beginLogs();
      this.#begun = true;
      let found: number | undefined;
      do {
        const began = performance.now();
        found = await this.#store.extendLogs(this.#limits.mostLeaves);
        // Undefined: another worker seals.
        if (found !== 0) this.#sealedAt = began;
        this.#metrics.sealed.inc(found ?? 0);
        await this.#sign();
      } while ((found ?? 0) >= this.#limits.mostLeaves && !this.#isDraining() && !this.#stopping.signal.aborted);
      const pauseMs = await this.#sealExisting();
      this.#failed = false;
      return pauseMs;
    } catch (error) {
      this.#failed = true;
      this.#metrics.failures.inc();
      this.#logger.warn({ error }, 'the log could not be extended, retrying later');
      return this.#limits.retryMs;
    }
  }

  /** The same. If there were none, it looks again after a while: rounds are many under load. */
  async #sealExisting(): Promise<number> {
    const { intervalMs, existingPauseMs } = this.#limits;
    if (performance.now() < this.#existingAt) return intervalMs;
    const existing = await this.#store.sealExisting();
    if (existing === undefined) {
      this.#existingAt = performance.now() + intervalMs;
      return intervalMs;
    }
    this.#metrics.added.inc(existing.added);
    return existingPauseMs;
  }

  async #sign(): Promise<void> {
    const report = await this.#store.signLogs();
    if (report === undefined) return;
    this.#metrics.checkpoints.inc(report.signed);
    await this.#store.cosign();
    for (const refusal of report.refused) {
      this.#metrics.failures.inc();
      this.#logger.error(
        refusal,
        'the log contradicts a checkpoint that was signed, and gets no other: was the database restored from an older backup?',
      );
    }
  }
}
