import { sql, type Kysely } from 'kysely';

/** True of a user who is not in the reader role, which may not exist yet. */
const isNoReader = sql`not coalesce(pg_has_role(to_regrole('runledger_reader'), 'USAGE'), false)`;

/**
 * Turns on row-level security with a policy that still shows everything to everybody but the reader
 * role, whose policies are in `../../reader-role.ts`.
 */
export async function showToReaders(db: Kysely<unknown>, ...tables: string[]): Promise<void> {
  for (const table of tables) {
    await sql`alter table ${sql.table(table)} enable row level security`.execute(db);
    await sql`create policy everybody on ${sql.table(table)} using (${isNoReader}) with check (${isNoReader})`.execute(
      db,
    );
  }
}
