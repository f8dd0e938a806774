import type { Blindness, Held, Transition } from '../../expectation/transition.ts';
import type { Turns } from '../../store/apart.ts';
import type { Tables } from '../../store/database.ts';
import type { Transaction } from '../../store/sql.ts';

/** Receives each tick, to notify others. */
export interface TickListener {
  /**
   * Receives the transitions of a tick in parts, within its transaction. An error rolls it back.
   */
  recordTransitions(trx: Transaction<Tables>, transitions: readonly Transition[]): Promise<void>;
  /**
   * Runs at the end of the transaction. An error rolls the tick back. `held`: organizations whose
   * record is not complete up to the watermark. Work for several organizations goes through
   * `turns`.
   */
  recordTick(trx: Transaction<Tables>, watermark: number, held?: Held, turns?: Turns): Promise<void>;
  /**
   * Runs after each attempt to tick, in the process that held the lock, or that could not reach
   * Postgres. `blindness`: why the watermark has not moved for minutes.
   */
  announce(blindness: Blindness | undefined): Promise<void>;
}
