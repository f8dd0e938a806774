import { sql, type RawBuilder } from 'kysely';
import type { AcceptedEvent } from '../event/event.ts';
import { rowsOfBytes } from './bytes-parameter.ts';
import { leavesByOrganization, leavesOf } from './leaves-of-batch.ts';

/**
 * The part of the statement that appends the leaves of inserted events to the log, one row for each
 * organization. A statement that refuses duplicates inserts all events, so that Postgres need not
 * look at single leaves. `inserted` of the statement has the events that were inserted.
 */
export function appendLeaves(events: readonly AcceptedEvent[], duplicates: 'refuse' | 'skip'): RawBuilder<unknown> {
  if (duplicates === 'refuse') {
    const leaves = leavesByOrganization(events);
    return sql`
      appended as (
        insert into log_segments (organization, leaves)
        select organization, bytes
        from ${rowsOfBytes([...leaves.values()], { organization: sql`${[...leaves.keys()]}::text[]` })} as leaves
      ),
    `;
  }
  return sql`
    leaf as (
      select distinct on (organization, id) organization, id, leaf from unnest(
        ${events.map((event) => event.organization)}::text[],
        ${events.map((event) => event.id)}::uuid[],
        ${leavesOf(events)}::bytea[]
      ) as t (organization, id, leaf)
    ),
    appended as (
      insert into log_segments (organization, leaves)
      select organization, string_agg(leaf, ''::bytea) from inserted join leaf using (organization, id)
      group by organization
    ),
  `;
}
