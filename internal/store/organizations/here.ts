import { sql, type RawBuilder } from '../sql.ts';

/**
 * A condition on a column with an organization: it has not left this database and is not on its way
 * here. Logs of other organizations are left alone.
 */
export function isHere(column: string): RawBuilder<boolean> {
  return sql`${sql.ref(column)} not in (select organization from moved_organizations where closed)`;
}
