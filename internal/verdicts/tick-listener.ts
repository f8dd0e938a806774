import type { Blindness, Tick } from '../expectation/transition.ts';
import type { Tables } from '../store/database.ts';
import type { Transaction } from '../store/sql.ts';

/** Receives each tick, to tell others. */
export interface TickListener {
  /** Runs in the transaction of the tick. An error rolls the tick back. */
  record(trx: Transaction<Tables>, tick: Tick): Promise<void>;
  /**
   * Runs after each attempt to tick, in the process that held the lock, or that could not reach
   * Postgres. `blindness`: why the watermark has not moved for minutes.
   */
  announce(blindness: Blindness | undefined): Promise<void>;
}
