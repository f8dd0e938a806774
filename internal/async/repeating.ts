import { setTimeout as sleep } from 'node:timers/promises';

/** Repeats work in the background, one run after another. */
export class Repeating {
  readonly #work: () => Promise<number>;
  #stopping: AbortController | undefined;
  #running: Promise<void> = Promise.resolve();

  /** `work` never rejects. It resolves with the pause before the next run, in ms. */
  constructor(work: () => Promise<number>) {
    this.#work = work;
  }

  /** Starts the first run at once, or after the last run of an earlier start. Safe twice. */
  start(): void {
    if (this.#stopping !== undefined) return;
    this.#stopping = new AbortController();
    const { signal } = this.#stopping;
    this.#running = this.#running.then(() => this.#repeatUntil(signal));
  }

  /** Starts no more runs. Resolves when the current run has ended. */
  async stop(): Promise<void> {
    this.#stopping?.abort();
    this.#stopping = undefined;
    await this.#running;
  }

  async #repeatUntil(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      const pauseMs = await this.#work();
      await sleep(pauseMs, undefined, { signal: stopping }).catch(() => undefined);
    }
  }
}
