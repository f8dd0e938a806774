import { Backoff } from '../../kit/async/backoff.ts';

/** Pauses in ms. */
export interface RoundTimes {
  /** From a change to its round; further changes in this time share the round. */
  readonly settleMs: number;
  /** Before the next round, if one left work or did not get the lock. */
  readonly againMs: number;
  /** Maximum pause after errors. */
  readonly longestMs: number;
}

/** Runs work after changes, one round at a time, until nothing is left. */
export class Rounds {
  readonly #work: () => Promise<boolean>;
  readonly #onError: (error: unknown) => void;
  readonly #times: RoundTimes;
  readonly #backoff: Backoff;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;
  #pendingSince: number | undefined = Date.now();

  /** `work` resolves with true if nothing is left, except for changes during it. */
  constructor(work: () => Promise<boolean>, onError: (error: unknown) => void, times: RoundTimes) {
    this.#work = work;
    this.#onError = onError;
    this.#times = times;
    this.#backoff = new Backoff({ firstMs: times.againMs, longestMs: times.longestMs });
  }

  /** Since when changes have waited, in ms since the Unix epoch; undefined if none wait. */
  get pendingSince(): number | undefined {
    return this.#pendingSince;
  }

  /** Call it when something may have changed. */
  changed(): void {
    this.#pendingSince ??= Date.now();
    this.#plan(this.#times.settleMs);
  }

  /** Starts no more rounds. Resolves when the current one has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #plan(pauseMs: number): void {
    if (this.#stopped) return;
    this.#timer ??= setTimeout(() => {
      this.#running = this.#running.then(() => this.#run());
    }, pauseMs);
  }

  async #run(): Promise<void> {
    if (this.#stopped) return;
    this.#timer = undefined;
    const begun = Date.now();
    try {
      const complete = await this.#work();
      this.#backoff.reset();
      if (!complete) this.#plan(this.#times.againMs);
      // A change during the round has planned the next one.
      else this.#pendingSince = this.#timer === undefined ? undefined : begun;
    } catch (error) {
      this.#onError(error);
      this.#plan(this.#backoff.next());
    }
  }
}
