import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Lets long reads take turns: one at a time in a process, with a pause as long as the work before.
 * So they take at most half a core of Postgres, however many readers there are, and workers keep
 * the rest.
 */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Runs the work when its turn has come. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(async () => {
      const begun = performance.now();
      try {
        return { result: await work(), pauseMs: performance.now() - begun };
      } catch (error) {
        return { error, pauseMs: performance.now() - begun };
      }
    });
    this.#last = turn.then(({ pauseMs }) => sleep(pauseMs, undefined, { ref: false }));
    return turn.then((outcome) => {
      if ('error' in outcome) throw outcome.error;
      return outcome.result;
    });
  }
}
