import { Backoff } from '../../kit/async/backoff.ts';
import type { Behind } from '../verdicts/watermark.ts';

/** Pauses in ms. */
export interface RoundTimes {
  /** From a change to its round; further changes in this time share the round. */
  readonly settleMs: number;
  /** Before the next round, if one left work or did not get the lock. */
  readonly againMs: number;
  /** Maximum pause after errors. */
  readonly longestMs: number;
  /** How long a round may begin further turns of the organizations. */
  readonly turnsMs: number;
}

/** The organizations whose changes a round has left; undefined if it may have left those of any. */
export type Left = ReadonlySet<string> | undefined;

/** Runs work after changes, one round at a time, until nothing is left. */
export class Rounds {
  readonly #work: () => Promise<Left>;
  readonly #onError: (error: unknown) => void;
  readonly #times: RoundTimes;
  readonly #backoff: Backoff;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;
  #pendingSince: number | undefined = Date.now();
  /** Since when the changes of an organization have waited that the last round has left. */
  #behind: ReadonlyMap<string, number> = new Map();

  /** `work` resolves with what is left, except for changes during it. */
  constructor(work: () => Promise<Left>, onError: (error: unknown) => void, times: RoundTimes) {
    this.#work = work;
    this.#onError = onError;
    this.#times = times;
    this.#backoff = new Backoff({ firstMs: times.againMs, longestMs: times.longestMs });
  }

  /**
   * Since when changes of any organization have waited, in ms since the Unix epoch; undefined if
   * none wait but those of {@link behind}.
   */
  get pendingSince(): number | undefined {
    return this.#pendingSince;
  }

  /** The organizations with more changes than a round takes, and since when they wait. */
  get behind(): Behind | undefined {
    if (this.#behind.size === 0) return undefined;
    return { organizations: [...this.#behind.keys()], oldestAt: Math.min(...this.#behind.values()) };
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
      const left = await this.#work();
      this.#backoff.reset();
      if (left === undefined) return this.#plan(this.#times.againMs);
      const since = this.#pendingSince ?? begun;
      this.#behind = new Map([...left].map((organization) => [organization, this.#behind.get(organization) ?? since]));
      // A change during the round has planned the next one.
      this.#pendingSince = this.#timer === undefined ? undefined : begun;
      if (left.size > 0) this.#plan(this.#times.againMs);
    } catch (error) {
      this.#onError(error);
      this.#plan(this.#backoff.next());
    }
  }
}
