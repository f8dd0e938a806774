import { setTimeout as sleep } from 'node:timers/promises';
import { Backoff } from '../kit/async/backoff.ts';
import type { Logger } from '../kit/telemetry/logger.ts';
import type { StoreMetrics } from './worker-metrics.ts';

/** Retries between two log records of the reason: about a minute, at two seconds each. */
const triesPerRecord = 30;

/** Pauses between retries while Postgres is unavailable, in ms; they double from min to max. */
export interface RetryPauses {
  retryMinMs: number;
  retryMaxMs: number;
}

/** Retries batches until Postgres is available, and reports the outage. No batch fails. */
export class RetryUntilAvailable {
  readonly #pauses: RetryPauses;
  readonly #metrics: StoreMetrics;
  readonly #logger: Logger;
  #batches = 0;

  constructor(pauses: RetryPauses, metrics: StoreMetrics, logger: Logger) {
    this.#pauses = pauses;
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /** True while a batch waits for Postgres. */
  get active(): boolean {
    return this.#batches > 0;
  }

  /**
   * Retries the work until it succeeds, and resolves with its result, or with undefined when
   * aborted between two retries. Never rejects.
   */
  async untilDone<T>(work: () => Promise<T>, abandon: AbortSignal): Promise<T | undefined> {
    const { retryMinMs, retryMaxMs } = this.#pauses;
    const backoff = new Backoff({ firstMs: retryMinMs, longestMs: retryMaxMs });
    for (let attempt = 0; ; attempt += 1) {
      try {
        const result = await work();
        if (attempt > 0) this.#end();
        return result;
      } catch (error) {
        if (attempt === 0) this.#begin();
        if (attempt % triesPerRecord === 0) {
          this.#logger.warn({ error, attempt }, 'postgres cannot store events, retrying until it can');
        }
        this.#metrics.retrying.set(1);
        this.#metrics.retries.inc();
        await sleep(backoff.next(), undefined, { signal: abandon }).catch(() => undefined);
        if (abandon.aborted) return undefined;
      }
    }
  }

  #begin(): void {
    this.#batches += 1;
  }

  #end(): void {
    this.#batches -= 1;
    if (this.active) return;
    this.#metrics.retrying.set(0);
    this.#logger.warn('postgres stores events again');
  }
}
