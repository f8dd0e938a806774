import type { Database } from './database.ts';

/** Deletes the sessions that ended before `now`, in ms since the Unix epoch. */
export async function deleteExpiredSessions(db: Database, now: number): Promise<void> {
  await db.deleteFrom('sessions').where('expires_at', '<', new Date(now)).execute();
}
