import { setTimeout as sleep } from 'node:timers/promises';
import { settledWithin } from '../kit/async/settled-within.ts';
import type { Logger } from '../kit/telemetry/logger.ts';
import type { SealerMetrics } from './sealer-metrics.ts';
import { SealSchedule, type SealerLimits } from './seal-schedule.ts';

/**
 * The store operations that the sealer needs. `extendLedgers` and `signLedgers` resolve with
 * undefined while it is another worker's turn.
 */
export interface SealedStore {
  /** Places about `mostLeaves` waiting leaves, and none without a MAC. */
  extendLedgers(mostLeaves: number): Promise<{ placed: number; refused: RefusedLeaves[] } | undefined>;
  /** Signs a checkpoint of each log that has grown. */
  signLedgers(): Promise<{ signed: number; refused: { organization: string; reason: string }[] } | undefined>;
  /** Sends checkpoints to the witnesses; resolves with the organizations whose logs they refuse. */
  cosign(): Promise<readonly string[]>;
  /** Marks refused leaves for another look; called once at the start. */
  retryRefused(): Promise<unknown>;
  /** Closes the connections to witnesses. */
  close?(): Promise<void>;
}

/** Leaves of an organization without a valid MAC, with some of their ids. */
export interface RefusedLeaves {
  organization: string;
  ids: string[];
  leaves: number;
}

/** How long a stop waits for a round, in ms. Closing the database ends a round that hangs. */
const stopMs = 5_000;

/**
 * Extends the logs by the leaves that workers stored, and signs checkpoints. Every worker runs it;
 * the store admits one at a time. A crash leaves either the old or the new checkpoint: a log is on
 * disk before its checkpoint is signed. During a drain rounds wait, so that the queue empties
 * sooner.
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
   * Records that this worker has stored events, and whether they filled a statement. Many events
   * start a round immediately; so does the first one after a quiet time.
   */
  onStored(events: number, full = false): void {
    this.#schedule.onStored(events, full);
    if (this.#isDue()) this.#nap.abort();
  }

  /** After a failure, only the end of the pause starts a round. */
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
      if (!this.#begun) await this.#store.retryRefused();
      this.#begun = true;
      let placed: number;
      do {
        placed = await this.#extend();
        await this.#sign();
      } while (placed >= this.#limits.mostLeaves && !this.#isInterrupted());
      this.#failed = false;
      return this.#limits.intervalMs;
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

  /** Resolves with the number of leaves placed. */
  async #extend(): Promise<number> {
    const began = performance.now();
    const report = await this.#store.extendLedgers(this.#limits.mostLeaves);
    // Undefined: another worker seals.
    if (report?.placed !== 0) this.#schedule.onPlaced(began);
    for (const refusal of report?.refused ?? []) {
      this.#metrics.refused.inc(refusal.leaves);
      this.#logger.error(refusal, 'leaves without a valid MAC get no place in the log: their writer lacks the key');
    }
    this.#metrics.sealed.inc(report?.placed ?? 0);
    return report?.placed ?? 0;
  }

  async #sign(): Promise<void> {
    const report = await this.#store.signLedgers();
    if (report === undefined) return;
    this.#metrics.checkpoints.inc(report.signed);
    for (const refusal of report.refused) {
      this.#metrics.failures.inc();
      this.#logger.error(
        refusal,
        'the log contradicts a checkpoint that was signed, and gets no other: was the database restored from an older backup?',
      );
    }
    const refused = await this.#store.cosign();
    this.#metrics.contradicted.set(
      new Set([...refused, ...report.refused.map(({ organization }) => organization)]).size,
    );
  }
}
