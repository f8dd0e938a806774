import { setTimeout as sleep } from 'node:timers/promises';

/** The longest pause that is made longer because the wait was long, in ms. */
const rareMs = 100;

/**
 * Asks until the answer is neither undefined nor false, and resolves with it. Rejects after
 * `withinMs`. For states that nothing announces. Asks every `everyMs`, and less often once it has
 * waited for 20 times as long: many answers take a connection each.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  withinMs = 30_000,
  everyMs = 20,
): Promise<T> {
  const began = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    const waited = performance.now() - began;
    if (waited > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(Math.max(everyMs, Math.min(waited / 20, rareMs)));
  }
}
