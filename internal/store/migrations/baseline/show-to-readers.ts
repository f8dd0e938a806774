import { sql, type Kysely } from 'kysely';

/**
 * Turns on row-level security with a policy that still shows everything to everybody.
 * `../../reader-role.ts` adds the policy that restricts the reader role to one organization.
 */
export async function showToReaders(db: Kysely<unknown>, ...tables: string[]): Promise<void> {
  for (const table of tables) {
    await sql`alter table ${sql.table(table)} enable row level security`.execute(db);
    await sql`create policy everybody on ${sql.table(table)} using (true) with check (true)`.execute(db);
  }
}
