import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../telemetry/logger.ts';
import type { MaintenanceMetrics } from '../telemetry/worker-metrics.ts';

/** What a run of the maintenance did. */
export interface MaintenanceReport {
  /** Partitions made and dropped, by the name of the table. */
  created: string[];
  dropped: string[];
  /** Events moved out of the DEFAULT partition, and those still in it. */
  moved: number;
  defaultRows: number;
  /** Days from today on that have a partition. */
  daysAhead: number;
  /** Executions that run, and those of them that have for too long. */
  running: number;
  overdue: number;
}

/** The store's part: makes partitions ahead, empties the DEFAULT one, drops what is past retention. */
export type Maintain = () => Promise<MaintenanceReport>;

/** How long a stop waits for a run, in ms. Closing the database ends one that hangs. */
const stopMs = 5_000;

/** Runs the maintenance at start and then at an interval. Any number of workers may; the store takes a lock. */
export class Maintenance {
  readonly name = 'maintenance';
  readonly #maintain: Maintain;
  readonly #intervalMs: number;
  readonly #retryMs: number;
  readonly #metrics: MaintenanceMetrics;
  readonly #logger: Logger;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = true;

  constructor(
    maintain: Maintain,
    intervals: { intervalMs: number; retryMs: number },
    metrics: MaintenanceMetrics,
    logger: Logger,
  ) {
    this.#maintain = maintain;
    this.#intervalMs = intervals.intervalMs;
    this.#retryMs = intervals.retryMs;
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /** Begins in the background: a worker starts whether Postgres is there or not. */
  async start(): Promise<void> {
    if (!this.#stopped) return;
    this.#stopped = false;
    this.#running = this.#loop();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    const waited = new AbortController();
    const timeout = sleep(stopMs, undefined, { signal: waited.signal }).catch(() => undefined);
    await Promise.race([this.#running, timeout]);
    waited.abort();
  }

  /** One run. @throws what the store throws. */
  async runOnce(): Promise<MaintenanceReport> {
    const report = await this.#maintain();
    this.#metrics.partitionsAhead.set(report.daysAhead);
    this.#metrics.defaultRows.set(report.defaultRows);
    this.#metrics.running.set(report.running);
    this.#metrics.overdue.set(report.overdue);
    if (report.created.length + report.dropped.length + report.moved > 0) {
      this.#logger.info({ ...report }, 'partitions maintained');
    }
    return report;
  }

  async #loop(): Promise<void> {
    let wait = this.#intervalMs;
    try {
      await this.runOnce();
    } catch (error) {
      wait = this.#retryMs;
      this.#metrics.failures.inc();
      this.#logger.warn({ error }, 'maintenance failed and will be tried again');
    }
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#loop();
    }, wait);
  }
}
