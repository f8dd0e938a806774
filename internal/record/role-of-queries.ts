import type { Database } from '../store/database.ts';
import { codeOf } from '../store/errors.ts';
import { readerRole, readerRoleIsComplete } from '../store/reader-role.ts';
import { sql } from '../store/sql.ts';

/** How long a check of the role is valid, in ms: it costs more than most queries. */
const holdsMs = 5_000;

/** SQLSTATEs of a role that is gone, or that lacks rights. */
const roleErrors = new Set(['22023', '42501']);

interface Look {
  complete: boolean;
  at: number;
}

const looks = new WeakMap<Database, Look>();

/** Checks the role now. True if queries run as `runledger_reader` from now on. */
export async function usesReaderRole(db: Database): Promise<boolean> {
  const at = performance.now();
  const complete = await look(db);
  const known = looks.get(db);
  if (known === undefined || known.at <= at) looks.set(db, { complete, at });
  return complete;
}

async function look(db: Database): Promise<boolean> {
  const { rows } = await sql<{ complete: boolean }>`select ${readerRoleIsComplete} as complete`.execute(db);
  return rows[0]?.complete ?? false;
}

/**
 * Runs queries with their role: `runledger_reader` if it is complete, otherwise `none`. Only the
 * first queries wait for a check. It is valid for 5 s; queries after that trigger another. If the
 * role fails, it checks again and repeats the queries.
 */
export async function withRole<T>(db: Database, work: (role: string) => Promise<T>): Promise<T> {
  const known = looks.get(db);
  const complete = known === undefined ? await usesReaderRole(db) : known.complete;
  try {
    const result = await work(nameOf(complete));
    if (known !== undefined && performance.now() - known.at >= holdsMs) lookAgain(db, known);
    return result;
  } catch (error) {
    if (!complete || !roleErrors.has(codeOf(error) ?? '')) throw error;
    return work(nameOf(await usesReaderRole(db)));
  }
}

/** Checks in the background. After an error the last check stays valid for another 5 s. */
function lookAgain(db: Database, known: Look): void {
  known.at = performance.now();
  usesReaderRole(db).catch(() => undefined);
}

function nameOf(complete: boolean): string {
  return complete ? readerRole : 'none';
}
