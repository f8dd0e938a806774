import { setTimeout as sleep } from 'node:timers/promises';
import { settledWithin } from '../async/settled-within.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { SealerMetrics } from '../telemetry/sealer-metrics.ts';
import { SealSchedule, type SealerLimits } from './seal-schedule.ts';

/**
 * The operations of the store that the sealer needs. `extendLogs`, `signLogs` and `sealExisting`
 * resolve with undefined while another worker has the turn.
 */
export interface SealedStore {
  /** Places about `mostLeaves` waiting leaves; resolves with their number. */
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
  readonly #schedule: SealSchedule;
  #begun = false;
  /** When to look again for events without a leaf, by the clock of the process. */
  #existingAt = -Infinity;
  #failed = false;

  constructor(store: SealedStore, limits: SealerLimits, metrics: SealerMetrics, logger: Logger) {
    this.#store = store;
    this.#limits = limits;
    this.#schedule = new SealSchedule(limits);
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
  onStored(events: number, full = false): void {
    this.#schedule.onStored(events, full);
    if (this.#isDue()) this.#nap.abort();
  }

  /** After a failure, only the end of the pause begins a round. */
  #isDue(): boolean {
    return !this.#failed && this.#schedule.isDue();
  }

  async #repeat(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#schedule.onRound();
      let pauseMs = await this.#round();
      do {
        this.#nap = new AbortController();
        if (this.#stopping.signal.aborted || this.#isDue()) break;
        await sleep(pauseMs, undefined, { signal: this.#nap.signal }).catch(() => undefined);
        pauseMs = this.#limits.drainMs;
      } while (this.#schedule.isDraining());
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
        if (found !== 0) this.#schedule.onPlaced(began);
        this.#metrics.sealed.inc(found ?? 0);
        await this.#sign();
      } while ((found ?? 0) >= this.#limits.mostLeaves && !this.#isInterrupted());
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

  #isInterrupted(): boolean {
    return this.#schedule.isDraining() || this.#stopping.signal.aborted;
  }

  /**
   * Takes a step over events without a leaf. Resolves with the pause before the next round, in ms.
   * When it finds none, it looks again after `intervalMs`: rounds are many under load.
   */
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
    for (const refusal of report.refused) {
      this.#metrics.failures.inc();
      this.#logger.error(
        refusal,
        'the log contradicts a checkpoint that was signed, and gets no other: was the database restored from an older backup?',
      );
    }
    await this.#store.cosign();
  }
}
