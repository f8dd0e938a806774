import type { EventKind } from '../event/schema.ts';
import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { all, time, when, type Condition } from './conditions.ts';
import { findExecutions, type FoundExecutions } from './find-executions.ts';
import {
  countOverEvents,
  isAfter,
  isBefore,
  overEvents,
  type ArchivedSource,
  type NeededEvents,
} from './over-events.ts';
import { archivedBytes, fitting, isCut, type Fitting } from './page-bytes.ts';
import { readAs } from './read-as.ts';
import {
  eventColumns,
  positionOfEvent,
  storedEventOf,
  type EventPosition,
  type EventRow,
  type StoredEvent,
} from './stored-event.ts';

/** Events before the one that a page is around. */
const context = 20;

/** Which part of an execution's events to read: in the order of their acceptance. */
export interface TimelineRequest {
  automationId: string;
  executionId: string;
  /** Only events of this kind. */
  kind?: EventKind | undefined;
  /** The page after, before or around a position, or the last one; the first one if absent. */
  place?: { after: EventPosition } | { before: EventPosition } | { around: EventPosition } | 'last' | undefined;
  limit: number;
  mostBytes: number;
}

/** A page of the events of one execution, oldest first. */
export interface Timeline {
  items: StoredEvent[];
  /** Events before the first one of the page: those of the kind, and all. */
  before: { ofKind: number; all: number };
  /** True if there are events after the last one of the page. */
  more: boolean;
  /** Where the events come from if not from Postgres. */
  archived?: ArchivedSource[];
}

/** Reads a page of the events of an execution; empty if there is no such execution. */
export async function listTimeline(db: Database, organization: string, request: TimelineRequest): Promise<Timeline> {
  const found = await readAs(db, organization, (trx) => findExecutions(trx, organization, request));
  if (found === undefined) return { items: [], before: { ofKind: 0, all: 0 }, more: false };
  const execution: Execution = { db, organization, found, ...request };
  const { rows, more, archived } = await readPage(execution, request);
  const [first] = rows;
  const before = first === undefined ? { ofKind: 0, all: 0 } : await countBefore(execution, first);
  return { items: rows.map(storedEventOf), before, more, ...(archived !== undefined && { archived }) };
}

/** The execution whose events are read. */
interface Execution extends Pick<TimelineRequest, 'executionId' | 'kind'> {
  db: Database;
  organization: string;
  found: FoundExecutions;
}

type Row = EventRow & Fitting;

/** Rows in the order of their acceptance. */
interface Rows {
  rows: Row[];
  more: boolean;
  archived?: ArchivedSource[] | undefined;
}

async function readPage(execution: Execution, { place, limit, mostBytes }: TimelineRequest): Promise<Rows> {
  const forwards = (from: Bound | undefined, most = limit) => readFrom(execution, from, 'asc', most, mostBytes);
  const backwards = async (from: Bound | undefined, most = limit): Promise<Rows> => {
    const { rows, ...others } = await readFrom(execution, from, 'desc', most, mostBytes);
    return { ...others, rows: rows.toReversed() };
  };
  if (place === undefined) return forwards(undefined);
  if (place === 'last') return { ...(await backwards(undefined)), more: false };
  if ('after' in place) return forwards({ position: place.after, operator: '>' });
  if ('before' in place) return { ...(await backwards({ position: place.before, operator: '<' })), more: true };
  const before = await backwards({ position: place.around, operator: '<' }, context);
  const after = await forwards({ position: place.around, operator: '>=' }, limit - before.rows.length);
  const archived = [...(before.archived ?? []), ...(after.archived ?? [])];
  const sources = [...new Map(archived.map((one) => [`${one.day} ${one.object}`, one])).values()];
  return {
    rows: [...before.rows, ...after.rows],
    more: after.more,
    archived: sources.length === 0 ? undefined : sources,
  };
}

async function readFrom(
  execution: Execution,
  from: Bound | undefined,
  order: 'asc' | 'desc',
  limit: number,
  mostBytes: number,
): Promise<Rows> {
  const { db, organization, kind } = execution;
  const isIn = from === undefined ? () => true : matching(from);
  const needed: NeededEvents = {
    ...neededOf(execution),
    matches: (row) => (kind === undefined || row.kind === kind) && isIn(row),
    keep: order === 'asc' ? 'oldest' : 'newest',
    most: limit + 1,
    mostBytes: archivedBytes,
  };
  const conditions = [...ofExecution(execution), ...when(kind, (kind) => sql`kind = ${kind}`), ...when(from, compared)];
  const direction = sql.raw(order);
  return overEvents(db, organization, needed, async (trx, { source, archived }) => {
    const events = sql`
      select *, (row_number() over ())::integer as number from (
        select ${eventColumns} from ${source} as events where ${all(conditions)}
        order by created_at ${direction}, id ${direction} limit ${limit + 1}
      ) as events
    `;
    const { rows } = await sql<Row>`${fitting(events, mostBytes)}`.execute(trx);
    return { rows: rows.slice(0, limit), more: rows.length > limit || isCut(rows), archived };
  });
}

async function countBefore(execution: Execution, first: EventRow): Promise<Timeline['before']> {
  const { db, organization, kind } = execution;
  const bound: Bound = { position: positionOfEvent(first), operator: '<' };
  const matches = kind === undefined ? sql`true` : sql`kind = ${kind}`;
  const needed = { ...neededOf(execution), matches: matching(bound) };
  const counted = { all: () => true, ofKind: (event: EventRow) => kind === undefined || event.kind === kind };
  return countOverEvents(db, organization, needed, counted, async (trx) => {
    const { rows } = await sql<Timeline['before']>`
      select count(*)::integer as all, (count(*) filter (where ${matches}))::integer as "ofKind" from events
      where ${all([...ofExecution(execution), compared(bound)])}
    `.execute(trx);
    return rows[0] ?? { ofKind: 0, all: 0 };
  });
}

function neededOf({ executionId, found }: Execution) {
  return { ...found, executionId };
}

function ofExecution({ organization, executionId, found: { automationIds, from, until } }: Execution): Condition[] {
  return [
    sql`organization = ${organization} and automation_id = any(${automationIds}::uuid[])`,
    sql`execution_id = ${executionId}`,
    sql`created_at between ${time(from)} and ${time(until)}`,
  ];
}

/** A place in the order of acceptance, and which side of it is wanted. */
interface Bound {
  position: EventPosition;
  operator: '<' | '>' | '>=';
}

/** As {@link compared}, for a row in memory. */
function matching({ position, operator }: Bound): (row: EventRow) => boolean {
  if (operator === '<') return isBefore(position);
  if (operator === '>') return isAfter(position);
  const isEarlier = isBefore(position);
  return (row) => !isEarlier(row);
}

/**
 * Compares with a position. Postgres prunes partitions by the time only, not by a comparison of
 * rows.
 */
function compared({ position: { createdAt, id }, operator }: Bound): Condition {
  const bound = sql.raw(operator === '<' ? '<=' : '>=');
  return sql`created_at ${bound} ${time(createdAt)}
    and (created_at, id) ${sql.raw(operator)} (${time(createdAt)}, ${id}::uuid)`;
}
