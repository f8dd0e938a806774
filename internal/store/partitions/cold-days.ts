import type { Tables } from '../database.ts';
import { sql, type Kysely } from '../sql.ts';
import type { ColdObject } from '../tables/cold-days-table.ts';

/**
 * The objects of an organization's cold days between two times (ms, both included), oldest first.
 */
export async function listColdObjects(
  db: Kysely<Tables>,
  organization: string,
  { from = -Infinity, until = Infinity }: { from?: number; until?: number } = {},
): Promise<ColdObject[]> {
  const time = (ms: number) => sql`to_timestamp(${ms / 1_000}::float8)`;
  const { rows } = await sql<Omit<ColdObject, 'organization'>>`
    select extract(epoch from day)::float8 * 1000 as day, object, rows::float8 as rows, manifest_sha256 as "manifestSha256"
    from cold_days where organization = ${organization}
      and day >= (${time(from)} at time zone 'UTC')::date and day <= (${time(until)} at time zone 'UTC')::date
    order by cold_days.day, length(object), object
  `.execute(db);
  return rows.map((row) => ({ organization, ...row }));
}
