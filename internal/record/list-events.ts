import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { all, time, when, type Condition } from './conditions.ts';
import {
  automationsIn,
  eventConditions,
  following,
  hasIndex,
  indexedCondition,
  matchesEvent,
} from './event-conditions.ts';
import { findExecutions } from './find-executions.ts';
import { fillPage, type SearchOptions, type Slice } from './fill-page.ts';
import type { EventFilters } from './filters.ts';
import { hasColdSince, isAfter, isBefore, overEvents, type ArchivedSource, type NeededEvents } from './over-events.ts';
import type { Page, PageRequest } from './page.ts';
import { archivedBytes, fitting, isCut, mostBytes, type Fitting } from './page-bytes.ts';
import { readAs, type Reading } from './read-as.ts';
import {
  eventColumns,
  positionOfEvent,
  storedEventOf,
  type EventPosition,
  type EventRow,
  type StoredEvent,
} from './stored-event.ts';
import { smallestId, windowsBackwards } from './windows.ts';

/** A page of events, and where they come from if not from Postgres. */
export interface EventPage<Item> extends Page<Item, EventPosition> {
  archived?: ArchivedSource[];
  /**
   * With cold days: the time after which all events were searched. The page ends there, and the
   * next one goes on.
   */
  searched_from?: string;
}

/** The events of an execution, oldest first; or all events, newest first. */
export function listEvents(
  db: Database,
  organization: string,
  filters: EventFilters,
  page: PageRequest<EventPosition>,
  search: SearchOptions,
): Promise<EventPage<StoredEvent>> {
  const { executionId } = filters;
  return executionId === undefined
    ? listNewest(db, organization, filters, page, search)
    : listOfExecution(db, organization, { ...filters, executionId }, page, storedEventOf);
}

/**
 * Lists the events of an execution; its times bound the partitions that Postgres plans and reads.
 * Executions of several automations may have this id.
 */
export async function listOfExecution<Item>(
  db: Database,
  organization: string,
  filters: EventFilters & { executionId: string },
  { limit, after, mostBytes }: PageRequest<EventPosition>,
  itemOf: (row: EventRow) => Item,
): Promise<EventPage<Item>> {
  const found = await readAs(db, organization, (trx) => findExecutions(trx, organization, filters));
  if (found === undefined) return { items: [] };
  const { executionId } = filters;
  const conditions = [
    sql`organization = ${organization} and automation_id = any(${found.automationIds}::uuid[])`,
    sql`execution_id = ${executionId}`,
    sql`created_at between ${time(found.from)} and ${time(found.until)}`,
    ...when(after, following),
    ...eventConditions(filters),
  ];
  const isLater = after === undefined ? () => true : isAfter(after);
  const needed: NeededEvents = {
    ...found,
    executionId,
    matches: (row) => isLater(row) && matchesEvent(row, filters),
    keep: 'oldest',
    most: limit + 1,
    mostBytes: archivedBytes,
  };
  return overEvents(db, organization, needed, async (trx, { source, archived }) => {
    const { rows } = await sql<EventRow & Fitting>`
      ${fitting(
        sql`
        select *, (row_number() over ())::integer as number from (
          select ${eventColumns} from ${source} as events where ${all(conditions)} order by created_at, id limit ${limit + 1}
        ) as events
      `,
        mostBytes,
      )}
    `.execute(trx);
    const items = rows.slice(0, limit);
    const last = items.at(-1);
    const more = rows.length > limit || isCut(rows);
    const next = more && last !== undefined ? positionOfEvent(last) : undefined;
    return { items: items.map(itemOf), next, ...(archived !== undefined && { archived }) };
  });
}

async function listNewest(
  db: Database,
  organization: string,
  filters: EventFilters,
  page: PageRequest<EventPosition>,
  search: SearchOptions,
): Promise<EventPage<StoredEvent>> {
  const hasCold = db.archive !== undefined && (await hasColdSince(db, organization, filters.from ?? new Date(0)));
  const windows = windowsBackwards(organization, filters, { single: hasCold });
  const most = page.mostBytes ?? mostBytes;
  const sources = new Map<string, ArchivedSource>();
  const found = await fillPage<EventRow & Fitting, StoredEvent, EventPosition>({
    ...search,
    page,
    rowsPerMatch: isSearch(filters) ? 6 : 1,
    rowCost: 1,
    itemOf: storedEventOf,
    positionOf: positionOfEvent,
    bytesOf: (matches) => matches.at(-1)?.bytes ?? 0,
    readSlice: async (after, size, needed, read) => {
      const window = windows.before(after);
      const base = [sql`organization = ${organization}`, ...window.conditions];
      const isEarlier = after === undefined || after.id === smallestId ? () => true : isBefore(after);
      const events: NeededEvents = {
        ...window.times,
        automationIds: automationsIn(filters),
        matches: (row) => isEarlier(row) && matchesEvent(row, filters),
        keep: 'newest',
        most: size,
        mostBytes: archivedBytes,
      };
      const slice = await overEvents(db, organization, events, (trx, { source, archived = [] }) => {
        for (const one of archived) sources.set(`${one.day} ${one.object}`, one);
        return readSlice(trx, { source, base, filters, size, needed, most: most - read });
      });
      const isEnough = slice.next !== undefined || slice.matches.length >= needed;
      return isEnough ? slice : { ...slice, next: await readAs(db, organization, (trx) => window.begin(trx)) };
    },
  });
  const end = hasCold && found.items.length < page.limit ? found.next : undefined;
  return {
    ...found,
    ...(sources.size > 0 && { archived: [...sources.values()] }),
    ...(end !== undefined && { searched_from: end.createdAt }),
  };
}

/** True unless all rows of a slice match. */
function isSearch({ automationId, automationIds, kind, errorId, q }: EventFilters): boolean {
  const filters = [automationId, kind, errorId].filter((filter) => filter !== undefined).length;
  if (automationIds !== undefined) return true;
  return q !== undefined || errorId !== undefined || filters > 1 || (kind !== undefined && !hasIndex(kind));
}

interface SliceOptions {
  source: Condition;
  base: Condition[];
  filters: EventFilters;
  size: number;
  needed: number;
  /** Bytes of texts that still fit into the page. */
  most: number;
}

/**
 * Reads a slice. It has no `next` if it holds all that is needed or reaches the end of the window,
 * and ends earlier if the texts have too many bytes.
 */
async function readSlice(
  trx: Reading,
  { source, base, filters, size, needed, most }: SliceOptions,
): Promise<Slice<EventRow & Fitting, EventPosition>> {
  const { rows } = await sql<EventRow & Fitting & { matches: boolean; number: number }>`
    with slice as materialized (
      select ${eventColumns} from ${source} as events where ${all([...base, ...indexedCondition(filters)])}
      order by created_at desc, id desc limit ${size}
    ),
    numbered as (
      select *, ${all(eventConditions(filters))} as matches, (row_number() over ())::integer as number from slice
    )
    ${fitting(sql`select * from numbered where matches or number = ${size}::integer order by number limit ${needed}`, most)}
  `.execute(trx);
  const last = rows.at(-1);
  return {
    matches: rows.filter((row) => row.matches),
    next: last !== undefined && (last.number === size || isCut(rows)) ? positionOfEvent(last) : undefined,
  };
}
