import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from './database.ts';

/** What a server that is coming up answers: nothing there yet, its name not known yet, or "starting up". */
const passing = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ECONNRESET', 'ETIMEDOUT', 'EHOSTUNREACH', '57P03']);

/** Between two tries, in ms. */
const pause = 500;

/** Resolves when Postgres answers a statement. */
export async function ping(db: Database): Promise<void> {
  await sql`select 1`.execute(db);
}

/**
 * Waits for a Postgres that is coming up, for `withinMs` at most, and says so once.
 * @throws the last error when it did not come, and at once any that time does not mend, such as a wrong password.
 */
export async function untilReachable(db: Database, withinMs: number, onWait: (error: unknown) => void): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (let attempt = 0; ; attempt += 1) {
    try {
      await ping(db);
      return;
    } catch (error) {
      if (!passes(error) || performance.now() > deadline) throw error;
      if (attempt === 0) onWait(error);
      await sleep(pause);
    }
  }
}

function passes(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && passing.has(code);
}
