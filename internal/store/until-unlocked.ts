import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from './errors.ts';

/** SQLSTATEs of a statement that exceeded `lock_timeout`, and of a deadlock. */
const notLocked: ReadonlySet<string | undefined> = new Set(['55P03', '40P01']);

/** Pause between attempts, in ms: lets the writers that waited behind the last attempt go first. */
const pauseMs = 500;

/** Most attempts: about five minutes. */
const most = 400;

/**
 * Repeats a short schema change until it gets its lock: a long reader may hold it, and all writers
 * wait behind an attempt. Rejects after about five minutes.
 */
export async function untilUnlocked<T>(change: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await change();
    } catch (error) {
      if (!notLocked.has(codeOf(error)) || attempt === most) throw error;
      await sleep(pauseMs);
    }
  }
}
