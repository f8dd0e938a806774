import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { time, type Condition } from './conditions.ts';
import type { ErrorGroup } from './error-group.ts';
import type { Window } from './filters.ts';
import { mostErrors } from './newest-errors.ts';
import { overEvents, type NeededEvents } from './over-events.ts';

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
  const wanted = new Set(groups.map(({ error_id }) => error_id));
  const needed: NeededEvents = {
    from,
    until: to,
    automationIds: [...new Set(groups.map(({ automation }) => automation))],
    kind: 'ERROR',
    matches: ({ error_id }) => wanted.has(error_id),
    keep: 'newest',
    most: mostErrors,
    slim: true,
  };
  const happenedAt = (acceptedAt: Condition, source: Condition): Condition => sql`coalesce((
    select coalesce(occurred_at, created_at) from ${source} as events
    where organization = ${organization} and kind = 'ERROR' and created_at between ${time(from)} and ${time(to)}
      and created_at = ${acceptedAt} and automation_id = g.automation_id and error_id = g.error_id
    order by id limit 1
  ), ${acceptedAt})`;
  return overEvents(db, organization, needed, async (trx, { source }) => {
    const { rows } = await sql<{ first: Date; last: Date }>`
      select ${happenedAt(sql`g.first_at`, source)} as first, ${happenedAt(sql`g.last_at`, source)} as last
      from unnest(
        ${groups.map(({ automation }) => automation)}::uuid[], ${groups.map((group) => group.error_id)}::text[],
        ${groups.map((group) => group.first_seen_at)}::timestamptz[], ${groups.map((group) => group.last_seen_at)}::timestamptz[]
      ) with ordinality as g (automation_id, error_id, first_at, last_at, number)
      order by number
    `.execute(trx);
    return rows.map(({ first, last }) => ({ first: first.toISOString(), last: last.toISOString() }));
  });
}
