import { setTimeout as sleep } from 'node:timers/promises';

/** Wrong tokens per second that get an answer at once: more than callers with an old token send. */
const freePerSecond = 100;

/**
 * Mean delay of each further answer, in ms. It is random, so that the answers do not arrive
 * together.
 */
const wait = 1_000;

/**
 * Rate limiter for wrong tokens: past the limit, each 401 is delayed by about a second. Valid
 * tokens are not delayed. The limit is per process and not per address, because all callers behind
 * a proxy have the same address.
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
