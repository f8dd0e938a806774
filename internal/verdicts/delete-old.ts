import type { Database } from '../store/database.ts';

const dayMs = 86_400_000;

/** Gaps that are older than this, in days, can no longer be in the window of an expected run. */
const gapDays = 400;

/**
 * Deletes resolved alerts, and webhook messages that were delivered or given up, `retentionDays`
 * later; 0 keeps them. Deletes gaps of the record that no longer matter. `now`: ms since the Unix
 * epoch.
 */
export async function deleteOld(db: Database, retentionDays: number, now: number): Promise<void> {
  await db
    .deleteFrom('record_gaps')
    .where('until_at', '<', new Date(now - gapDays * dayMs))
    .execute();
  if (retentionDays === 0) return;
  const oldest = new Date(now - retentionDays * dayMs);
  await db.deleteFrom('alerts').where('resolved_at', '<', oldest).execute();
  await db
    .deleteFrom('deliveries')
    .where((row) => row.or([row('delivered_at', '<', oldest), row('given_up_at', '<', oldest)]))
    .execute();
}
