import { sql, type Kysely } from 'kysely';

/**
 * Row-level security for readers. The policy for everybody leaves workers and today's readers what
 * they saw; `internal/store/reader-role.ts` adds the one that restricts the reader role. Indexes
 * for readers are in `internal/store/indexes.ts`: they are built outside of this transaction.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Writers wait behind this lock: give up early, migrateToLatest tries again.
  await sql`set local lock_timeout = '200ms'`.execute(db);
  await lockBoth(db);
  for (const table of ['events', 'executions']) {
    await sql`alter table ${sql.table(table)} enable row level security`.execute(db);
    await sql`create policy everybody on ${sql.table(table)} using (true) with check (true)`.execute(db);
  }
}

/**
 * Workers lock both tables in the order of their plan. In the other order each writer that comes
 * would hold the second table and wait for the first: under load a migration would fail for long.
 */
async function lockBoth(db: Kysely<unknown>): Promise<void> {
  await sql`
    do $$
    begin
      lock table executions, events in access exclusive mode;
    exception when lock_not_available or deadlock_detected then
      lock table events, executions in access exclusive mode;
    end
    $$
  `.execute(db);
}
