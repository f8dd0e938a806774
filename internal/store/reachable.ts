import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from './database.ts';
import { codeOf } from './errors.ts';
import { messageOf } from '../kit/errors/message-of.ts';

/**
 * Errors that waiting cannot solve: wrong credentials (class 28), no such database (3D), no
 * privilege (42), an invalid address. Any other may come from a server that is starting.
 */
const lasting = /^(28...|3D...|42...|ERR_INVALID_.*|ERR_SOCKET_BAD_PORT)$/;

/** Interval of attempts, in ms. */
const pauseMs = 500;

/** Resolves when Postgres answers a statement. */
export async function ping(db: Database): Promise<void> {
  await sql`select 1`.execute(db);
}

/**
 * Waits up to `withinMs` for a Postgres that is starting, and logs that once.
 * @throws the last error after that time; immediately if waiting cannot help, such as for a wrong
 * password.
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
  // The client's error for a missing or wrong password has no code.
  if (error instanceof Error && error.message.startsWith('SASL')) return true;
  return lasting.test(codeOf(error) ?? '');
}

function notWithin(ms: number, error: unknown): Error {
  // The error for several unreachable addresses has a code and no message.
  const seen = messageOf(error) || codeOf(error);
  return new Error(`Postgres did not answer within ${ms} ms: ${seen}`, { cause: error });
}
