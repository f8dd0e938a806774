import type { Tables } from '../database.ts';
import { sql, type Kysely } from '../sql.ts';
import type { ColdObject } from '../tables/cold-days-table.ts';
import { isoDay } from './days.ts';

/** No day becomes cold within this time after its end, in ms: HOT_DAYS is 2 at least. */
const alwaysHotMs = 36 * 3_600_000;

/** True of a time (ms) whose day may be in the archive only. */
export function mayBeCold(time: number): boolean {
  return time <= Date.now() - alwaysHotMs;
}

const columns = sql`
  extract(epoch from day)::float8 * 1000 as day, object, rows::float8 as rows, manifest_sha256 as "manifestSha256"
`;

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
    select ${columns} from cold_days where organization = ${organization}
      and day >= (${time(from)} at time zone 'UTC')::date and day <= (${time(until)} at time zone 'UTC')::date
    order by cold_days.day, length(object), object
  `.execute(db);
  return rows.map((row) => ({ organization, ...row }));
}

/** The objects of these days (ms) of organizations, in a fixed order. */
export async function coldObjectsOf(
  db: Kysely<Tables>,
  days: readonly { organization: string; day: number }[],
): Promise<ColdObject[]> {
  const { rows } = await sql<ColdObject>`
    select organization, ${columns} from cold_days
    where (organization, day) in (
      select * from unnest(${days.map(({ organization }) => organization)}::text[], ${days.map(({ day }) => isoDay(day))}::date[])
    )
    order by organization, cold_days.day, length(object), object
  `.execute(db);
  return rows;
}
