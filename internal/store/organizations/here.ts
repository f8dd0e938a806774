import type { Tables } from '../database.ts';
import { sql, type Kysely, type RawBuilder } from '../sql.ts';

/**
 * A condition on a column with an organization: it has not left this database and is not on its way
 * here. Logs of other organizations are left alone.
 */
export function isHere(column: string): RawBuilder<boolean> {
  return sql`${sql.ref(column)} not in (select organization from moved_organizations where closed)`;
}

/** The organizations that have left this database or are on their way here. */
export async function closedHere(db: Kysely<Tables>): Promise<string[]> {
  const rows = await db.selectFrom('moved_organizations').select('organization').where('closed', '=', true).execute();
  return rows.map(({ organization }) => organization);
}

/**
 * True while an organization is on its way from or to this database. Under the lock of maintenance
 * no move begins.
 */
export async function isOnMove(db: Kysely<Tables>): Promise<boolean> {
  const one = db.selectFrom('moved_organizations').select('organization').where('under_way', '=', true).limit(1);
  return (await one.executeTakeFirst()) !== undefined;
}
