import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Wrong tokens that are answered at once within a second: more than callers with an old token send.
 */
const freePerSecond = 100;

/**
 * How long the answer to each further one is held back on average, in ms: at random, so that they
 * do not come back as one.
 */
const wait = 1_000;

/**
 * Slows down whoever guesses tokens, and nobody else: past a number of wrong tokens a second each
 * answer takes about a second, so that a guesser's speed is bounded by its connections and not by
 * what this process can do. One per process, not per address: behind a proxy every caller has the
 * same.
 */
export function createWrongTokenLimiter(
  now: () => number = Date.now,
  pause: (ms: number) => Promise<unknown> = sleep,
): () => Promise<void> {
  let second = 0;
  let wrong = 0;
  return async () => {
    const current = Math.floor(now() / 1_000);
    if (current !== second) {
      second = current;
      wrong = 0;
    }
    wrong += 1;
    if (wrong > freePerSecond) await pause(wait * (0.5 + Math.random()));
  };
}
