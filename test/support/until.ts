import { setTimeout as sleep } from 'node:timers/promises';

/** The shortest and the longest pause between two questions, in ms. */
const [often, rarely] = [20, 100];

/**
 * Asks until the answer is neither undefined nor false, and resolves with it. Rejects after
 * `withinMs`. For states that nothing announces. Asks every `everyMs`; without it, less often the
 * longer it waits, because many answers take a connection each.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  withinMs = 30_000,
  everyMs?: number,
): Promise<T> {
  const began = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    const waited = performance.now() - began;
    if (waited > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(everyMs ?? Math.max(often, Math.min(waited / 20, rarely)));
  }
}
