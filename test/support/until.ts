import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks again until the answer is not undefined; for what announces itself to nobody. Rejects after
 * `withinMs`.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined> | T | undefined,
  withinMs = 10_000,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(20);
  }
}
