import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { time, type Condition } from './conditions.ts';
import type { ErrorGroup } from './error-group.ts';
import type { Window } from './filters.ts';
import { readAs } from './read-as.ts';

/**
 * When the first and the last accepted ERROR of a group happened, according to their callers; ISO
 * 8601.
 */
export interface ErrorTimes {
  first: string;
  last: string;
}

/** The times of groups of a window, in their order. */
export function listErrorTimes(
  db: Database,
  organization: string,
  groups: readonly Pick<ErrorGroup, 'automation' | 'error_id' | 'first_seen_at' | 'last_seen_at'>[],
  { from, to }: Window,
): Promise<ErrorTimes[]> {
  if (groups.length === 0) return Promise.resolve([]);
  const happenedAt = (acceptedAt: Condition): Condition => sql`coalesce((
    select coalesce(occurred_at, created_at) from events
    where organization = ${organization} and kind = 'ERROR' and created_at between ${time(from)} and ${time(to)}
      and created_at = ${acceptedAt} and automation_id = g.automation_id and error_id = g.error_id
    order by id limit 1
  ), ${acceptedAt})`;
  return readAs(db, organization, async (trx) => {
    const { rows } = await sql<{ first: Date; last: Date }>`
      select ${happenedAt(sql`g.first_at`)} as first, ${happenedAt(sql`g.last_at`)} as last
      from unnest(
        ${groups.map(({ automation }) => automation)}::uuid[], ${groups.map((group) => group.error_id)}::text[],
        ${groups.map((group) => group.first_seen_at)}::timestamptz[], ${groups.map((group) => group.last_seen_at)}::timestamptz[]
      ) with ordinality as g (automation_id, error_id, first_at, last_at, number)
      order by number
    `.execute(trx);
    return rows.map(({ first, last }) => ({ first: first.toISOString(), last: last.toISOString() }));
  });
}
