import type { AcceptedEvent } from '../event/event.ts';

/**
 * The result of a job. `stored`: its events are in Postgres, as events or dead letters.
 * `abandoned`: given back because the process stops. `withdrawn`: given back because Postgres is
 * unavailable. `postponed`: given back because only the archive can say what was stored before, and
 * it does not answer. A set: these organizations have left the database. Unless the result is
 * `stored`, any part of the job may be stored, and is found as duplicates later.
 */
export type StoreResult = 'stored' | 'abandoned' | 'withdrawn' | 'postponed' | ReadonlySet<string>;

/** Stores the events of jobs, in one database or in several. */
export interface Storage {
  /**
   * Resolves once all events are safe or given back; never rejects. `redelivered`: an earlier
   * delivery may have stored and counted them.
   */
  add(events: AcceptedEvent[], redelivered?: boolean): Promise<StoreResult>;
  /** Gives back all jobs not known to be stored, and every later one. */
  abandon(): void;
  /** True while events wait for Postgres. */
  readonly retrying: boolean;
  /** Batches stored so far; grows while there is progress. */
  readonly storedBatches: number;
}
