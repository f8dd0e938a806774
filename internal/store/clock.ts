import { sql } from 'kysely';
import type { Database } from './database.ts';

/** The clock of Postgres compared with that of this process, in ms. */
export interface Clock {
  /** The time of Postgres, since the Unix epoch. */
  now: number;
  /** The least by which this process is ahead of Postgres; negative if it is behind. */
  ahead: number;
}

/**
 * Reads the clock of Postgres. All deletions go by it: the clock of a single process may be wrong
 * by years. Rejects while Postgres is unavailable.
 */
export async function readClock(db: Database): Promise<Clock> {
  const asked = Date.now();
  const { rows } = await sql<{ now: number }>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now
  `.execute(db);
  const answered = Date.now();
  const now = rows[0]?.now ?? Number.NaN;
  if (now < asked) return { now, ahead: asked - now };
  return { now, ahead: Math.min(0, answered - now) };
}
