import type { MaintenanceReport, PartitionFigures, RunningExecutions } from '../event/outcome/maintenance-report.ts';
import type { Logger } from '../kit/telemetry/logger.ts';
import type { MaintenanceMetrics } from './worker-metrics.ts';
import { Repeating } from '../kit/async/repeating.ts';
import { settledWithin } from '../kit/async/settled-within.ts';

/** The store operations that maintenance needs. Both reject while Postgres is unavailable. */
export interface MaintainedStore {
  /**
   * Creates partitions ahead, empties the DEFAULT partition, and drops partitions past retention.
   * Rejects if a step failed.
   */
  maintain(): Promise<MaintenanceReport>;
  /** Read-only, so its figures are right even after a failed maintenance. */
  measure(): Promise<PartitionFigures & RunningExecutions>;
}

/** Time between two runs, and until a failed run is retried, in ms. */
export interface MaintenanceIntervals {
  intervalMs: number;
  retryMs: number;
}

/** How long a stop waits for a run, in ms. Closing the database ends a run that hangs. */
const stopMs = 5_000;

/**
 * Runs maintenance at the start and then at an interval. Any number of workers may run it, because
 * the store takes a lock.
 */
export class Maintenance {
  readonly name = 'maintenance';
  readonly #store: MaintainedStore;
  readonly #intervals: MaintenanceIntervals;
  readonly #metrics: MaintenanceMetrics;
  readonly #logger: Logger;
  readonly #runs = new Repeating(() => this.#run());

  constructor(store: MaintainedStore, intervals: MaintenanceIntervals, metrics: MaintenanceMetrics, logger: Logger) {
    this.#store = store;
    this.#intervals = intervals;
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /** Starts in the background, with or without Postgres. */
  async start(): Promise<void> {
    this.#runs.start();
  }

  async stop(): Promise<void> {
    await settledWithin(stopMs, this.#runs.stop());
  }

  /** Resolves with the pause before the next run, in ms. */
  async #run(): Promise<number> {
    const changes = await this.#maintain();
    const measured = await this.#measure();
    if (changes === undefined || !measured) this.#metrics.failures.inc();
    else if (!changes.compactsOn) return this.#intervals.intervalMs;
    return this.#intervals.retryMs;
  }

  /** Resolves with undefined after a failure. */
  async #maintain(): Promise<MaintenanceReport | undefined> {
    try {
      const changes = await this.#store.maintain();
      const { created, dropped, cooled = [], moved, compacted = 0 } = changes;
      if (created.length + dropped.length + cooled.length + moved + compacted > 0) {
        this.#logger.info({ created, dropped, cooled, moved, compacted }, 'partitions maintained');
      }
      if (changes.waitsForMove) this.#logger.info('the DEFAULT partition and retention wait for the end of a move');
      this.#metrics.moveUnderWay.set(changes.waitsForMove ? 1 : 0);
      this.#metrics.waiting.set(changes.waiting?.partitions ?? 0);
      if (changes.waiting !== undefined) this.#logger.warn(changes.waiting, 'retention waits for the archive');
      this.#reportRefusals(changes);
      return changes;
    } catch (error) {
      this.#logger.warn({ error }, 'maintenance failed, retrying later');
      return undefined;
    }
  }

  /** Logs why retention dropped nothing although it is on. */
  #reportRefusals({ asks, clockAheadMs, clocksDiffer }: MaintenanceReport): void {
    this.#metrics.asked.set(asks?.partitions ?? 0);
    this.#metrics.clockAhead.set(clockAheadMs / 1_000);
    if (asks !== undefined) this.#logger.warn(asks, 'retention drops nothing until a person approves it');
    if (clocksDiffer)
      this.#logger.error({ clockAheadMs }, 'retention drops nothing: the clock is not that of postgres');
  }

  /** Clears a gauge that cannot be read, since its last value would look current. */
  async #measure(): Promise<boolean> {
    const { partitionsAhead, defaultRows, running, overdue } = this.#metrics;
    try {
      const figures = await this.#store.measure();
      partitionsAhead.set(figures.daysAhead);
      defaultRows.set(figures.defaultRows);
      running.set(figures.running);
      overdue.set(figures.overdue);
      return true;
    } catch (error) {
      for (const gauge of [partitionsAhead, defaultRows, running, overdue]) gauge.remove();
      this.#logger.warn({ error }, 'could not count partitions and executions, omitting their metrics');
      return false;
    }
  }
}
