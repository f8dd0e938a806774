import { sql, type Kysely } from 'kysely';

/**
 * The console shows the newest checkpoint that enough witnesses have cosigned, which may be older
 * than the newest of its hour. Acts are read by organization, like the log (reader-role.ts).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table log_checkpoints add column published_size bigint, add column published_note text`.execute(db);
  await sql`alter table log_acts enable row level security`.execute(db);
  await sql`create policy everybody on log_acts using (true) with check (true)`.execute(db);
}
