import { mostAgo, mostAhead } from '../event/occurred-at.ts';
import { sql } from '../store/sql.ts';
import { all, time, when, whenAnyOf, type Condition } from './conditions.ts';
import type { ErrorFilters } from './filters.ts';

/** Most errors of a window that are counted, newest first. */
export const mostErrors = 10_000;

/**
 * The query of the newest {@link mostErrors} ERROR events that happened in a window; `at` is when.
 * Those whose callers said when have their own index.
 */
export function newestErrors(
  organization: string,
  { automationId, automationIds, errorId, from, to }: ErrorFilters,
): Condition {
  const wanted = all([
    sql`organization = ${organization} and kind = 'ERROR'`,
    ...when(automationId, (id) => sql`automation_id = ${id}::uuid`),
    ...whenAnyOf(automationIds),
    ...when(errorId, (id) => sql`error_id = ${id}`),
  ]);
  const newest = (column: 'created_at' | 'occurred_at', conditions: Condition): Condition => sql`
    select automation_id, error_id, execution_id, id, occurred_at, ${sql.ref(column)} as at from events
    where ${wanted} and ${sql.ref(column)} >= ${time(from)} and ${sql.ref(column)} < ${time(to)} and ${conditions}
    order by ${sql.ref(column)} desc, id desc limit ${sql.lit(mostErrors)}
  `;
  // Bounds on the time of acceptance let Postgres prune partitions.
  const accepted = sql`occurred_at is not null
    and created_at >= ${time(new Date(from.getTime() - mostAhead))}
    and created_at < ${time(new Date(to.getTime() + mostAgo))}`;
  return sql`
    select automation_id, error_id, execution_id, id, at from (
      select * from (${newest('created_at', sql`true`)}) as accepted where occurred_at is null
      union all
      (${newest('occurred_at', accepted)})
    ) as errors
    order by at desc, id desc limit ${sql.lit(mostErrors)}
  `;
}
