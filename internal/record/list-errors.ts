import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { all, time, when } from './conditions.ts';
import type { ErrorGroup, ErrorGroupPosition, ErrorGroups } from './error-group.ts';
import type { ErrorFilters } from './filters.ts';
import type { PageRequest } from './page.ts';
import { readAs } from './read-as.ts';

/** Most errors of a window that are counted: the newest. */
const most = 10_000;

interface GroupRow {
  automation_id: string;
  error_id: string;
  count: number;
  first_seen_at: Date;
  last_seen_at: Date;
  latest_execution_id: string;
  /** Of all groups. */
  counted: number;
  oldest: Date;
}

/**
 * ERROR events of a window by automation and `error_id`; the group that was seen last first. And
 * how many events were read for them.
 */
export function listErrors(
  db: Database,
  organization: string,
  { automationId, errorId, from, to }: ErrorFilters,
  { limit, after }: PageRequest<ErrorGroupPosition>,
): Promise<{ groups: ErrorGroups; counted: number }> {
  const errors = all([
    sql`organization = ${organization} and kind = 'ERROR'`,
    sql`created_at >= ${time(from)} and created_at < ${time(to)}`,
  ]);
  const filters = all([
    ...when(automationId, (id) => sql`automation_id = ${id}::uuid`),
    ...when(errorId, (id) => sql`error_id = ${id}`),
  ]);
  const following = when(
    after,
    (position) => sql`(last_seen_at, automation_id, error_id)
      < (${time(position.lastSeenAt)}, ${position.automationId}::uuid, ${position.errorId})`,
  );
  return readAs(db, organization, async (trx) => {
    const { rows } = await sql<GroupRow>`
      with groups as (
        select automation_id, error_id, count(*)::integer as count,
          min(created_at) as first_seen_at, max(created_at) as last_seen_at
        from (
          select automation_id, error_id, created_at from events where ${errors} and ${filters}
          order by created_at desc, id desc limit ${sql.lit(most)}
        ) as newest
        group by automation_id, error_id
      ),
      totals as (select sum(count)::integer as counted, min(first_seen_at) as oldest from groups)
      select page.*, totals.*, (
        select execution_id from events where ${errors} and created_at = page.last_seen_at
          and automation_id = page.automation_id and error_id = page.error_id
        order by id desc limit 1
      ) as latest_execution_id
      from (
        select * from groups where ${all(following)}
        order by last_seen_at desc, automation_id desc, error_id desc limit ${limit + 1}
      ) as page
      cross join totals
      order by last_seen_at desc, automation_id desc, error_id desc
    `.execute(trx);
    const items = rows.slice(0, limit);
    const last = items.at(-1);
    const begin = last?.counted === most ? last.oldest : from;
    const groups = {
      items: items.map(groupOf),
      next: rows.length > limit && last !== undefined ? positionOf(last) : undefined,
      from: begin.toISOString(),
      to: to.toISOString(),
    };
    return { groups, counted: last?.counted ?? 0 };
  });
}

function groupOf(row: GroupRow): ErrorGroup {
  return {
    automation: row.automation_id,
    error_id: row.error_id,
    count: row.count,
    first_seen_at: row.first_seen_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    latest_execution_id: row.latest_execution_id,
  };
}

function positionOf(row: GroupRow): ErrorGroupPosition {
  return { lastSeenAt: row.last_seen_at.toISOString(), automationId: row.automation_id, errorId: row.error_id };
}
