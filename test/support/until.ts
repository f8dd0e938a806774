import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks every `everyMs` until the answer is neither undefined nor false, and resolves with it.
 * Rejects after `withinMs`. For states that nothing announces.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  withinMs = 30_000,
  everyMs = 20,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(everyMs);
  }
}
