import { setTimeout as sleep } from 'node:timers/promises';

/** Repeats work in the background, one run after another. */
export class Repeating {
  readonly #work: () => Promise<number>;
  #stopping: AbortController | undefined;
  #running: Promise<void> = Promise.resolve();

  /** @param work never rejects; resolves with the pause before the next run, in ms. */
  constructor(work: () => Promise<number>) {
    this.#work = work;
  }

  /**
   * Starts the first run after `firstPauseMs`, and after the last run of an earlier start.
   * Idempotent.
   */
  start(firstPauseMs = 0): void {
    if (this.#stopping !== undefined) return;
    this.#stopping = new AbortController();
    const { signal } = this.#stopping;
    this.#running = this.#running.then(() => this.#repeatUntil(signal, firstPauseMs));
  }

  /** Starts no more runs. Resolves when the current run has ended. */
  async stop(): Promise<void> {
    this.#stopping?.abort();
    this.#stopping = undefined;
    await this.#running;
  }

  async #repeatUntil(stopping: AbortSignal, firstPauseMs: number): Promise<void> {
    const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal: stopping }).catch(() => undefined);
    if (firstPauseMs > 0) await pause(firstPauseMs);
    while (!stopping.aborted) await pause(await this.#work());
  }
}
