import type { Database } from '../store/database.ts';
import { writtenBy } from '../store/erase/rewritten-events.ts';
import { sql } from '../store/sql.ts';
import { all, time, when, type Condition } from './conditions.ts';
import { following } from './event-conditions.ts';
import { executionOf, shownColumns, type Execution, type ExecutionRow } from './execution.ts';
import { fitting, type Fitting } from './page-bytes.ts';
import { readAs, type Reading } from './read-as.ts';
import { eventColumns, positionOfEvent, storedEventOf, type EventRow } from './stored-event.ts';
import type { StoredSince, StreamPosition } from './stream.ts';

const dayMs = 24 * 3_600_000;

/**
 * The events that became visible between two snapshots, and their executions
 * (docs/design/reading.md). The search begins an overlap before the newest event sent, but at most
 * one day ago. An event that arrives even later is not found.
 */
export function pollStored(
  db: Database,
  organization: string,
  since: StreamPosition | undefined,
  limit: number,
  { overlapMs }: { overlapMs: number },
): Promise<StoredSince> {
  return readAs(db, organization, async (trx) => {
    const { snapshot, now } = await readSnapshot(trx, organization);
    if (since === undefined) {
      const newestAt = await newestEvent(trx, organization, now);
      return { events: [], executions: [], omitted: 0, position: { since: snapshot, newestAt } };
    }
    const until = since.until ?? snapshot;
    const rows = await readBetween(trx, organization, {
      ...since,
      until,
      limit,
      begin: beginOf(since, now, overlapMs),
    });
    const newest = rows.at(-1)?.created_at ?? now;
    return {
      events: rows.map((row) => ({
        event: storedEventOf(row),
        position: { since: since.since, newestAt: since.newestAt, until, after: positionOfEvent(row) },
      })),
      executions: await readExecutions(trx, organization, rows),
      omitted: (rows[0]?.total ?? 0) - rows.length,
      position: { since: until, newestAt: laterOf(since.newestAt, rows.length === 0 ? undefined : newest, now) },
    };
  });
}

interface Snapshot {
  snapshot: string;
  now: Date;
}

/**
 * What is visible now. A replica does not list transactions under way: its snapshot ends before the
 * first of them. A distributed Postgres sends the query to the node that has the organization, and
 * no other snapshot tells what is visible there.
 */
async function readSnapshot(trx: Reading, organization: string): Promise<Snapshot> {
  const { rows } = await sql<Snapshot>`
    select case when pg_is_in_recovery()
      then concat(pg_snapshot_xmin(current), ':', pg_snapshot_xmin(current), ':') else current::text
    end as snapshot, clock_timestamp() as now
    from (
      select pg_current_snapshot() as current, count(*) from log_trees where organization = ${organization}
    ) as node
  `.execute(trx);
  const [row] = rows;
  if (row === undefined) throw new Error('a snapshot has one row');
  return row;
}

/** The transaction that stored an event: that of its row, unless the row was rewritten. */
const storedBy = sql`coalesce(rewritten.stored_by, ${writtenBy('events')})`;

interface Batch extends StreamPosition {
  until: string;
  limit: number;
  begin: Date;
}

/**
 * Reads the newest events whose texts fit into a page, in order of `created_at` and id, with the
 * total before the limits.
 */
async function readBetween(
  trx: Reading,
  organization: string,
  { since, until, after, begin, limit }: Batch,
): Promise<(EventRow & { total: number })[]> {
  const wanted: Condition[] = [
    sql`organization = ${organization} and created_at >= ${time(begin)}`,
    ...when(after, following),
    sql`not pg_visible_in_snapshot(${storedBy}, ${since}::pg_snapshot)`,
    sql`pg_visible_in_snapshot(${storedBy}, ${until}::pg_snapshot)`,
  ];
  const { rows } = await sql<EventRow & Fitting & { total: number }>`
    ${fitting(sql`
      select *, (row_number() over (order by created_at desc, id desc))::integer as number from (
        select ${eventColumns}, (count(*) over ())::integer as total
        from events left join (
          select created_at, id, stored_by from rewritten_events
          where organization = ${organization} and created_at >= ${time(begin)}
        ) as rewritten using (created_at, id)
        where ${all(wanted)}
        order by created_at desc, id desc limit ${limit}
      ) as newest
    `)}
  `.execute(trx);
  return rows.toReversed();
}

async function readExecutions(trx: Reading, organization: string, events: EventRow[]): Promise<Execution[]> {
  if (events.length === 0) return [];
  const { rows } = await sql<ExecutionRow>`
    select ${shownColumns(organization)}
    from (
      select distinct * from unnest(
        ${events.map((event) => event.automation_id)}::uuid[],
        ${events.map((event) => event.execution_id)}::text[]
      ) as changed (automation_id, execution_id)
    ) as changed
    join executions as r using (automation_id, execution_id)
    where organization = ${organization}
  `.execute(trx);
  return rows.map(executionOf);
}

/** The newest event of the last day, or the start of that day. */
async function newestEvent(trx: Reading, organization: string, now: Date): Promise<string> {
  const begin = new Date(now.getTime() - dayMs);
  const { rows } = await sql<{ created_at: Date }>`
    select created_at from events
    where organization = ${organization} and created_at >= ${time(begin)} and created_at <= ${time(now)}
    order by created_at desc limit 1
  `.execute(trx);
  return (rows[0]?.created_at ?? begin).toISOString();
}

function beginOf({ newestAt }: StreamPosition, now: Date, overlapMs: number): Date {
  return new Date(Math.max(Date.parse(newestAt), now.getTime() - dayMs) - overlapMs);
}

/** Never later than now: an event from a fast clock would hide the others. */
function laterOf(before: string, newest: Date | undefined, now: Date): string {
  const later = Math.max(Date.parse(before), newest?.getTime() ?? 0);
  return new Date(Math.min(later, Math.max(now.getTime(), Date.parse(before)))).toISOString();
}
