import type { Database } from '../store/database.ts';
import { codeOf } from '../store/errors.ts';
import { readerRole, readerRoleIsComplete } from '../store/reader-role.ts';
import { sql } from '../store/sql.ts';

/** How long a look at the role holds, in ms: it costs more than most queries. */
const holdsMs = 5_000;

/** SQLSTATEs of a role that is gone, or that lacks rights. */
const roleErrors = new Set(['22023', '42501']);

interface Look {
  complete: Promise<boolean>;
  at: number;
}

const looks = new WeakMap<Database, Look>();

/** True if queries run as `runledger_reader` from now on. Looks now. */
export function usesReaderRole(db: Database): Promise<boolean> {
  const complete = look(db);
  const made = { complete, at: performance.now() };
  looks.set(db, made);
  complete.catch(() => {
    if (looks.get(db) === made) looks.delete(db);
  });
  return complete;
}

async function look(db: Database): Promise<boolean> {
  const { rows } = await sql<{ complete: boolean }>`select ${readerRoleIsComplete} as complete`.execute(db);
  return rows[0]?.complete ?? false;
}

/**
 * Runs queries with their role: `runledger_reader` if it is complete, otherwise `none`. A look
 * holds for 5 s. If the role fails meanwhile, it looks again and repeats the queries.
 */
export async function withRole<T>(db: Database, work: (role: string) => Promise<T>): Promise<T> {
  const known = looks.get(db);
  const isFresh = known !== undefined && performance.now() - known.at < holdsMs;
  const complete = await (isFresh ? known.complete : usesReaderRole(db));
  try {
    return await work(nameOf(complete));
  } catch (error) {
    if (!complete || !roleErrors.has(codeOf(error) ?? '')) throw error;
    return work(nameOf(await usesReaderRole(db)));
  }
}

function nameOf(complete: boolean): string {
  return complete ? readerRole : 'none';
}
