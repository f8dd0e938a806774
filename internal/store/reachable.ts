import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from './database.ts';
import { codeOf } from './errors.ts';

/**
 * What waiting does not mend. Of SQLSTATEs: authentication (class 28), no such database (3D), no
 * privilege (42). Of Node's codes: an address that is none. Everything else may be a server, or a
 * pooler in front of it, that is coming up.
 */
const lasting = /^(28...|3D...|42...|ERR_INVALID_.*|ERR_SOCKET_BAD_PORT)$/;

/** Between two tries, in ms. */
const pauseMs = 500;

/** Resolves when Postgres answers a statement. */
export async function ping(db: Database): Promise<void> {
  await sql`select 1`.execute(db);
}

/**
 * Waits for a Postgres that is coming up, for `withinMs` at most, and says so once.
 * @throws an error that says what was last seen when it did not come; and at once any that time
 * does not mend, such as a wrong password.
 */
export async function untilReachable(db: Database, withinMs: number, onWait: (error: unknown) => void): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (let attempt = 0; ; attempt += 1) {
    try {
      await ping(db);
      return;
    } catch (error) {
      if (lasts(error)) throw error;
      if (performance.now() > deadline) throw notWithin(withinMs, error);
      if (attempt === 0) onWait(error);
      await sleep(pauseMs);
    }
  }
}

function lasts(error: unknown): boolean {
  // What the client says of a password that is missing or wrong has no code.
  if (error instanceof Error && error.message.startsWith('SASL')) return true;
  return lasting.test(codeOf(error) ?? '');
}

function notWithin(ms: number, error: unknown): Error {
  // That no address of several could be reached has a code and no message.
  const seen = (error instanceof Error ? error.message : String(error)) || codeOf(error);
  return new Error(`Postgres did not answer within ${ms} ms: ${seen}`, { cause: error });
}
