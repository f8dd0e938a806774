import type { Logger } from '../telemetry/logger.ts';
import type { MaintenanceMetrics } from '../telemetry/worker-metrics.ts';
import { Repeating } from '../async/repeating.ts';
import { settledWithin } from '../async/settled-within.ts';

/** What a run of the maintenance changed. */
export interface PartitionChanges {
  /** Partitions made and dropped, by the name of the table. */
  created: string[];
  dropped: string[];
  /** Events that were moved from the DEFAULT partition to that of their day. */
  moved: number;
}

/** How the tables stand. */
export interface TableFigures {
  /** Days in a row, from today on, that have a partition. */
  daysAhead: number;
  /** Events in the DEFAULT partition. */
  defaultRows: number;
  /** Executions that run, and those of them that have for too long. */
  running: number;
  overdue: number;
}

/** What the maintenance needs of the store. Both reject while Postgres is away. */
export interface MaintainedStore {
  /**
   * Makes partitions ahead, empties the DEFAULT one, drops what is past retention. Rejects when a
   * step failed.
   */
  maintain(): Promise<PartitionChanges>;
  /** Only reads, and so tells the truth also after a maintenance that failed. */
  measure(): Promise<TableFigures>;
}

/** From one run to the next, and to the next try after one that failed, in ms. */
export interface MaintenanceIntervals {
  intervalMs: number;
  retryMs: number;
}

/** How long a stop waits for a run, in ms. Closing the database ends one that hangs. */
const stopMs = 5_000;

/**
 * Runs the maintenance at start and then at an interval. Any number of workers may; the store takes
 * a lock.
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

  /** Begins in the background: a worker starts whether Postgres is there or not. */
  async start(): Promise<void> {
    this.#runs.start();
  }

  async stop(): Promise<void> {
    await settledWithin(stopMs, this.#runs.stop());
  }

  /** Resolves with the pause before the next run, in ms. */
  async #run(): Promise<number> {
    const maintained = await this.#maintain();
    const measured = await this.#measure();
    if (maintained && measured) return this.#intervals.intervalMs;
    this.#metrics.failures.inc();
    return this.#intervals.retryMs;
  }

  async #maintain(): Promise<boolean> {
    try {
      const changes = await this.#store.maintain();
      if (changes.created.length + changes.dropped.length + changes.moved > 0) {
        this.#logger.info({ ...changes }, 'partitions maintained');
      }
      return true;
    } catch (error) {
      this.#logger.warn({ error }, 'maintenance failed and will be tried again');
      return false;
    }
  }

  /** A figure that cannot be read is left out: the last one would be taken for how things stand. */
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
      this.#logger.warn({ error }, 'partitions and executions could not be counted, their metrics are left out');
      return false;
    }
  }
}
