import { setTimeout as sleep } from 'node:timers/promises';

/** Wrong tokens per second that are answered at once: more than callers with an old token send. */
const freePerSecond = 100;

/** Mean delay of each further answer, in ms; random, so that the answers do not arrive together. */
const wait = 1_000;

/**
 * Limits wrong tokens: beyond the rate, each 401 is delayed by about a second. Valid tokens are
 * never delayed. The limit is per process rather than per address, because all callers behind a
 * proxy share one address.
 */
export function createWrongTokenLimiter(
  now: () => number = Date.now,
  pause: (ms: number) => Promise<unknown> = sleep,
  free = freePerSecond,
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
    if (wrong > free) await pause(wait * (0.5 + Math.random()));
  };
}
