import { sql, type Kysely } from 'kysely';
import type { Tables } from '../database.ts';

/** True if an organization has a log, or leaves that wait for one. */
export async function hasLedger(db: Kysely<Tables>, organization: string): Promise<boolean> {
  const { rows } = await sql<{ present: boolean }>`
    select exists (select from log_trees where organization = ${organization})
      or exists (select from log_segments where organization = ${organization}) as present
  `.execute(db);
  return rows[0]?.present === true;
}
