import type { Database } from '../database.ts';
import { sql } from '../sql.ts';

/** The organizations that have a log, or leaves for one, sorted. */
export async function organizationsWithLog(db: Database): Promise<string[]> {
  const { rows } = await sql<{ organization: string }>`
    select organization from log_trees union select organization from log_segments order by organization
  `.execute(db);
  return rows.map(({ organization }) => organization);
}
