import type { Transaction } from 'kysely';
import type { Tables } from '../database.ts';
import { isHere } from '../organizations/here.ts';
import { isoDay } from '../partitions/days.ts';
import { sql } from '../sql.ts';
import type { ColdObject } from '../tables/cold-days-table.ts';

/**
 * One of these objects whose manifest is not in the log of its organization; undefined if there is
 * none, or no log. An auditor takes such an object for invented. An organization that has left this
 * database has its log elsewhere.
 */
export async function findManifestWithoutAct(
  trx: Transaction<Tables>,
  objects: readonly ColdObject[],
): Promise<string | undefined> {
  const { rows } = await sql<{ name: string }>`
    select organization || ' on ' || day as name
    from unnest(
      ${objects.map(({ organization }) => organization)}::text[], ${objects.map(({ day }) => isoDay(day))}::text[],
      ${objects.map(({ object }) => object)}::text[], ${objects.map(({ manifestSha256 }) => manifestSha256)}::text[]
    ) as given (organization, day, object, sha256)
    where ${isHere('given.organization')}
      and (exists (select from log_trees t where t.organization = given.organization)
        or exists (select from log_segments s where s.organization = given.organization))
      and not exists (
        select from log_acts a
        where a.organization = given.organization and a.act::jsonb ->> 'act' = 'manifest'
          and a.act::jsonb ->> 'day' = day and a.act::jsonb ->> 'object' = object
          and a.act::jsonb ->> 'sha256' = sha256
      )
    limit 1
  `.execute(trx);
  return rows[0]?.name;
}
