import { setTimeout as sleep } from 'node:timers/promises';

/** Rows that may be read at once before reads rest. */
const burst = 50_000;

/**
 * Estimate of the rows a failed read scanned per ms, which Postgres does not report: what one core
 * reads.
 */
const rowsPerFailedMs = 500;

/** The clock of a budget, in ms. */
export interface BudgetClock {
  now: () => number;
  pause: (ms: number) => Promise<unknown>;
}

const realClock: BudgetClock = {
  now: () => performance.now(),
  pause: (ms) => sleep(ms, undefined, { ref: false }),
};

/** Earlier reads left no room in time. */
export class BudgetUsedUp extends Error {
  override readonly name = 'BudgetUsedUp';
}

interface RunOptions<T> {
  /** Rows that the work reads at most. */
  rows: number;
  /** The rows that it has read. Default: `rows`. If the work fails, its time counts. */
  rowsOf?: (result: T) => number;
  /** How long the work may wait, in ms. */
  withinMs: number;
}

/**
 * Bounds the rows a second that a process's long reads scan, however many readers there are, so
 * that workers keep Postgres' cores. It counts rows, not time: on a busy machine a read takes
 * longer but costs no more. For a failed read only the time is known.
 */
export class ReadBudget {
  readonly #rowsPerSecond: () => Promise<number>;
  readonly #clock: BudgetClock;
  #rate = 0;
  #left = burst;
  #countedAt: number;
  #last: Promise<unknown> = Promise.resolve();

  /** @param rowsPerSecond the bound that holds now, above 0. */
  constructor(rowsPerSecond: () => Promise<number>, clock = realClock) {
    this.#rowsPerSecond = rowsPerSecond;
    this.#clock = clock;
    this.#countedAt = clock.now();
  }

  /**
   * Runs the work once the reads before it leave room, in the order of the calls.
   * @throws {BudgetUsedUp} when that takes too long.
   */
  async run<T>(work: () => Promise<T>, { rows, rowsOf, withinMs }: RunOptions<T>): Promise<T> {
    const deadline = this.#clock.now() + withinMs;
    const turn = this.#last.then(async () => {
      await this.#rest(deadline);
      this.#left -= rows;
    });
    this.#last = turn.catch(() => undefined);
    await turn.catch(async (error: unknown) => {
      await this.#clock.pause(Math.min(withinMs, Math.max(0, deadline - this.#clock.now())));
      throw error;
    });
    const begun = this.#clock.now();
    const result = await work().catch((error: unknown) => {
      this.#left -= Math.max(0, (this.#clock.now() - begun) * rowsPerFailedMs - rows);
      throw error;
    });
    if (rowsOf !== undefined) this.#left += rows - rowsOf(result);
    return result;
  }

  async #rest(deadline: number): Promise<void> {
    this.#count();
    if (this.#left >= 0) return;
    this.#rate = await this.#rowsPerSecond();
    const restMs = (-this.#left * 1_000) / this.#rate;
    if (this.#clock.now() + restMs > deadline) throw new BudgetUsedUp();
    await this.#clock.pause(restMs);
    this.#count();
  }

  /** Adds the room that has accrued since the last call. */
  #count(): void {
    const now = this.#clock.now();
    this.#left = Math.min(burst, this.#left + ((now - this.#countedAt) * this.#rate) / 1_000);
    this.#countedAt = now;
  }
}
