import { sql, type RawBuilder } from 'kysely';

/**
 * The table `rewritten_events`: the transaction that stored an event whose row was written again
 * later.
 */
export interface RewrittenEventsTable {
  organization: string;
  created_at: Date;
  id: string;
  stored_by: string;
}

/** The transaction that wrote a row of `table`, with its epoch: `xmin` has 32 bits. */
export function writtenBy(table: 'events' | 'events_default'): RawBuilder<unknown> {
  return sql`(
    pg_snapshot_xmax(pg_current_snapshot())::text::bigint
    - ((pg_snapshot_xmax(pg_current_snapshot())::text::bigint - ${sql.ref(`${table}.xmin`)}::text::bigint) & 4294967295)
  )::text::xid8`;
}

/** Streams look back a little more than a day. */
const kept = sql`now() - interval '2 days'`;

/**
 * The statement that notes which transactions stored the rows of a query before they are rewritten.
 * The query selects the columns of the table. A second rewrite changes nothing.
 */
export function noteRewritten(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    insert into rewritten_events (organization, created_at, id, stored_by)
    select organization, created_at, id, stored_by from (${rows}) as rewritten where created_at > ${kept}
    on conflict do nothing
  `;
}

/** The statement that forgets events that are too old for any stream. */
export const forgetRewritten = sql`delete from rewritten_events where created_at <= ${kept}`;
