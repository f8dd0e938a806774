import { sql } from 'kysely';
import type { Database } from '../database.ts';

/** Deletes the sessions that have ended by the clock of Postgres, which also set their end. */
export async function deleteExpiredSessions(db: Database): Promise<void> {
  await db
    .deleteFrom('sessions')
    .where('expires_at', '<', sql<Date>`now()`)
    .execute();
}
