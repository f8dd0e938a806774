import { mostAgo, mostAhead } from '../event/occurred-at.ts';
import { sql } from '../store/sql.ts';
import { happenedAt } from '../store/tables/cold-days-table.ts';
import { all, time, when, whenAnyOf, type Condition } from './conditions.ts';
import { automationsIn } from './event-conditions.ts';
import type { ErrorFilters } from './filters.ts';
import type { Events, NeededEvents } from './over-events.ts';

/** Most errors of a window that are counted, newest first. */
export const mostErrors = 10_000;

/**
 * The query of the newest {@link mostErrors} ERROR events that happened in a window; `at` is when.
 * Those whose callers said when have their own index.
 */
export function newestErrors(
  organization: string,
  { automationId, automationIds, errorId, from, to }: ErrorFilters,
  source: Condition,
): Condition {
  const wanted = all([
    sql`organization = ${organization} and kind = 'ERROR'`,
    ...when(automationId, (id) => sql`automation_id = ${id}::uuid`),
    ...whenAnyOf(automationIds),
    ...when(errorId, (id) => sql`error_id = ${id}`),
  ]);
  const newest = (column: 'created_at' | 'occurred_at', conditions: Condition): Condition => sql`
    select automation_id, error_id, execution_id, id, occurred_at, ${sql.ref(column)} as at from ${source} as events
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

/** The errors of a window that only the archive may have, for {@link newestErrors}. */
export function neededErrors({ errorId, from, to, ...filters }: ErrorFilters): NeededEvents {
  return {
    from: new Date(from.getTime() - mostAhead),
    until: new Date(to.getTime() + mostAgo),
    automationIds: automationsIn(filters),
    kind: 'ERROR',
    happened: { from: from.getTime(), to: to.getTime() },
    matches: ({ error_id }) => errorId === undefined || error_id === errorId,
    timeOf: happenedAt,
    keep: 'newest',
    most: mostErrors,
    slim: true,
    mayEnd: true,
  };
}

/**
 * The window of {@link newestErrors} that was read: it begins later than asked if the archive takes
 * too long. An event may have happened a little later than it was accepted.
 */
export function readSince({ since }: Events, from: Date): Date {
  return since === undefined ? from : new Date(Math.max(from.getTime(), since.getTime() + mostAhead));
}
