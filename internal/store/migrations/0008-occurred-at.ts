import { sql, type Kysely } from 'kysely';

/**
 * When an event happened, if the caller says so. The times of an execution follow it. So they tell
 * no longer when its newest event was accepted, which retention and readers need: another column
 * does. Workers of an earlier release store no `occurred_at`, and may run meanwhile.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Writers wait behind this lock: give up early, migrateToLatest tries again.
  await sql`set local lock_timeout = '200ms'`.execute(db);
  await sql`alter table events add column occurred_at timestamptz(3)`.execute(db);
  await sql`alter table executions add column last_accepted_at timestamptz(3)`.execute(db);
}
