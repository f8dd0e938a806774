import type { EventKind } from '../event/schema.ts';
import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { all, time, when, type Condition } from './conditions.ts';
import { findExecutions } from './find-executions.ts';
import { fitting, isCut, type Fitting } from './page-bytes.ts';
import { readAs, type Reading } from './read-as.ts';
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
}

/** Reads a page of the events of an execution; empty if there is no such execution. */
export function listTimeline(db: Database, organization: string, request: TimelineRequest): Promise<Timeline> {
  return readAs(db, organization, async (trx) => {
    const found = await findExecutions(trx, organization, request);
    if (found === undefined) return { items: [], before: { ofKind: 0, all: 0 }, more: false };
    const ofExecution = [
      sql`organization = ${organization} and automation_id = ${request.automationId}::uuid`,
      sql`execution_id = ${request.executionId}`,
      sql`created_at between ${time(found.from)} and ${time(found.until)}`,
    ];
    const ofKind = [...ofExecution, ...when(request.kind, (kind) => sql`kind = ${kind}`)];
    const { rows, more } = await readPage(trx, ofKind, request);
    const [first] = rows;
    const before =
      first === undefined ? { ofKind: 0, all: 0 } : await countBefore(trx, ofExecution, first, request.kind);
    return { items: rows.map(storedEventOf), before, more };
  });
}

type Row = EventRow & Fitting;

async function readPage(
  trx: Reading,
  conditions: readonly Condition[],
  { place, limit, mostBytes }: TimelineRequest,
): Promise<{ rows: Row[]; more: boolean }> {
  const forwards = (from: Condition[], most = limit) => readFrom(trx, [...conditions, ...from], 'asc', most, mostBytes);
  const backwards = async (from: Condition[], most = limit) => {
    const { rows } = await readFrom(trx, [...conditions, ...from], 'desc', most, mostBytes);
    return rows.toReversed();
  };
  if (place === undefined) return forwards([]);
  if (place === 'last') return { rows: await backwards([]), more: false };
  if ('after' in place) return forwards([compared(place.after, '>')]);
  if ('before' in place) return { rows: await backwards([compared(place.before, '<')]), more: true };
  const before = await backwards([compared(place.around, '<')], context);
  const { rows, more } = await forwards([compared(place.around, '>=')], limit - before.length);
  return { rows: [...before, ...rows], more };
}

async function readFrom(
  trx: Reading,
  conditions: readonly Condition[],
  order: 'asc' | 'desc',
  limit: number,
  mostBytes: number,
): Promise<{ rows: Row[]; more: boolean }> {
  const direction = sql.raw(order);
  const events = sql`
    select *, (row_number() over ())::integer as number from (
      select ${eventColumns} from events where ${all(conditions)}
      order by created_at ${direction}, id ${direction} limit ${limit + 1}
    ) as events
  `;
  const { rows } = await sql<Row>`${fitting(events, mostBytes)}`.execute(trx);
  return { rows: rows.slice(0, limit), more: rows.length > limit || isCut(rows) };
}

async function countBefore(
  trx: Reading,
  conditions: readonly Condition[],
  first: EventRow,
  kind: EventKind | undefined,
): Promise<Timeline['before']> {
  const matches = kind === undefined ? sql`true` : sql`kind = ${kind}`;
  const { rows } = await sql<Timeline['before']>`
    select count(*)::integer as all, (count(*) filter (where ${matches}))::integer as "ofKind" from events
    where ${all([...conditions, compared(positionOfEvent(first), '<')])}
  `.execute(trx);
  return rows[0] ?? { ofKind: 0, all: 0 };
}

/**
 * Compares with a position. Postgres prunes partitions by the time only, not by a comparison of
 * rows.
 */
function compared({ createdAt, id }: EventPosition, operator: '<' | '>' | '>='): Condition {
  const bound = sql.raw(operator === '<' ? '<=' : '>=');
  return sql`created_at ${bound} ${time(createdAt)}
    and (created_at, id) ${sql.raw(operator)} (${time(createdAt)}, ${id}::uuid)`;
}
