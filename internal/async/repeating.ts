import { setTimeout as sleep } from 'node:timers/promises';

/** Work that is done again and again in the background, one run after the other. */
export class Repeating {
  readonly #work: () => Promise<number>;
  #stopping: AbortController | undefined;
  #running: Promise<void> = Promise.resolve();

  /** `work` never rejects, and resolves with the pause before the next run, in ms. */
  constructor(work: () => Promise<number>) {
    this.#work = work;
  }

  /**
   * The first run begins at once, or when the last of an earlier start has ended. Started twice, it
   * works once.
   */
  start(): void {
    if (this.#stopping !== undefined) return;
    this.#stopping = new AbortController();
    const { signal } = this.#stopping;
    this.#running = this.#running.then(() => this.#repeatUntil(signal));
  }

  /** No run begins any more. Resolves when the one under way has ended. */
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
