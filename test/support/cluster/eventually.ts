import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Resolves with the milliseconds it took until the condition held; rejects when it does not in
 * time.
 */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  what: string,
  timeoutMs = 10_000,
  everyMs = 5,
): Promise<number> {
  const began = performance.now();
  while (!(await condition())) {
    if (performance.now() - began > timeoutMs) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await sleep(everyMs);
  }
  return performance.now() - began;
}
