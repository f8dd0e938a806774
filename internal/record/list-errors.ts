import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { all, time, when } from './conditions.ts';
import type { ErrorGroup, ErrorGroupPosition, ErrorGroups } from './error-group.ts';
import type { ErrorFilters } from './filters.ts';
import { mostErrors, neededErrors, newestErrors, readSince } from './newest-errors.ts';
import { overEvents } from './over-events.ts';
import type { PageRequest } from './page.ts';

interface GroupRow {
  automation_id: string;
  error_id: string;
  count: number;
  first_seen_at: Date;
  last_seen_at: Date;
  latest_execution_id: string;
  digest: string;
  /** The errors of all groups. */
  counted: number;
  oldest: Date;
}

/**
 * ERROR events that happened in a window, by automation and `error_id`, last seen group first; and
 * how many events were read for them.
 */
export function listErrors(
  db: Database,
  organization: string,
  filters: ErrorFilters,
  { limit, after }: PageRequest<ErrorGroupPosition>,
): Promise<{ groups: ErrorGroups; counted: number }> {
  const following = when(
    after,
    (position) => sql`(last_seen_at, automation_id, digest)
      < (${time(position.lastSeenAt)}, ${position.automationId}::uuid, ${position.errorDigest})`,
  );
  return overEvents(db, organization, neededErrors(filters), async (trx, events) => {
    const read = { ...filters, from: readSince(events, filters.from) };
    const { rows } = await sql<GroupRow>`
      with groups as (
        select automation_id, error_id, count(*)::integer as count, min(at) as first_seen_at, max(at) as last_seen_at,
          (array_agg(execution_id order by at desc, id desc))[1] as latest_execution_id,
          encode(sha256(convert_to(error_id, 'UTF8')), 'hex') as digest
        from (${newestErrors(organization, read, events.source)}) as newest
        group by automation_id, error_id
      ),
      totals as (select sum(count)::integer as counted, min(first_seen_at) as oldest from groups)
      select page.*, totals.* from (
        select * from groups where ${all(following)}
        order by last_seen_at desc, automation_id desc, digest desc limit ${limit + 1}
      ) as page
      cross join totals
      order by last_seen_at desc, automation_id desc, digest desc
    `.execute(trx);
    const items = rows.slice(0, limit);
    const last = items.at(-1);
    const begin = last?.counted === mostErrors ? last.oldest : read.from;
    const groups = {
      items: items.map(groupOf),
      next: rows.length > limit && last !== undefined ? positionOf(last) : undefined,
      from: begin.toISOString(),
      to: filters.to.toISOString(),
      ...(events.archived !== undefined && { archived: events.archived }),
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
  return { lastSeenAt: row.last_seen_at.toISOString(), automationId: row.automation_id, errorDigest: row.digest };
}
