import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Resolves with the result of the promise, or with undefined if it rejects or takes longer than
 * `ms`.
 */
export async function settledWithin<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const settled = new AbortController();
  const late = sleep(ms, undefined, { signal: settled.signal }).catch(() => undefined);
  const result = await Promise.race([promise.catch(() => undefined), late]);
  settled.abort();
  return result ?? undefined;
}
