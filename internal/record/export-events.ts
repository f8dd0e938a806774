import type { Database } from '../store/database.ts';
import { dayOf } from '../store/partitions/days.ts';
import { sql } from '../store/sql.ts';
import { all, time } from './conditions.ts';
import { automationsIn, eventConditions, following, indexedCondition, matchesEvent } from './event-conditions.ts';
import type { EventFilters } from './filters.ts';
import { listOfExecution } from './list-events.ts';
import { isAfter, overEvents, type NeededEvents, type ReadAhead } from './over-events.ts';
import type { Page, PageRequest } from './page.ts';
import { fitting, isCut, type Fitting } from './page-bytes.ts';
import { readAs } from './read-as.ts';
import {
  eventColumns,
  positionOfEvent,
  provenEventOf,
  type EventPosition,
  type EventRow,
  type ProvenEvent,
} from './stored-event.ts';
import type { ReadBudget } from './read-budget.ts';
import { oldestEvent, smallestId } from './windows.ts';

/** What an exported event costs the budget, in rows, because it is sent in full. */
export const eventCost = 4;

/** Bytes of texts of cold days that an export reads ahead. */
const aheadBytes = 16 * 1_024 * 1_024;

const dayMs = 24 * 3_600_000;

type EventPage = Page<ProvenEvent, EventPosition>;
type ReadPage = (page: PageRequest<EventPosition>) => Promise<EventPage>;

/**
 * Events, oldest first, in pages that each take one short transaction. A page of a filtered export
 * may be empty and still have a `next`.
 */
export async function* exportEvents(
  db: Database,
  organization: string,
  filters: EventFilters,
  { limit, after }: PageRequest<EventPosition>,
  budget: ReadBudget,
): AsyncGenerator<EventPage> {
  const bounded = { ...filters, to: filters.to ?? new Date() };
  const { executionId } = filters;
  const readPage: ReadPage =
    executionId === undefined
      ? pagesForwards(db, organization, bounded)
      : (page) => listOfExecution(db, organization, { ...bounded, executionId }, page, provenEventOf);
  let position = after;
  do {
    const request = { limit, after: position };
    const page = await budget.run(() => readPage(request), { rows: limit * eventCost, withinMs: Infinity });
    yield page;
    position = page.next;
  } while (position !== undefined);
}

/** Reads windows of days from older to newer, and doubles their length after an empty one. */
function pagesForwards(db: Database, organization: string, filters: EventFilters & { to: Date }): ReadPage {
  let days = 1;
  const ahead: ReadAhead = {};
  return async ({ limit, after }) => {
    const start = after ?? (await startOf(db, organization, filters.from));
    if (start === undefined) return { items: [] };
    const end = Math.min(dayOf(Date.parse(start.createdAt)) + days * dayMs, filters.to.getTime());
    const base = [sql`organization = ${organization}`, following(start), sql`created_at < ${time(isoTime(end))}`];
    const isLater = isAfter(start);
    const needed: NeededEvents = {
      from: new Date(start.createdAt),
      until: new Date(end - 1),
      automationIds: automationsIn(filters),
      matches: (row) => isLater(row) && matchesEvent(row, filters),
      keep: 'oldest',
      most: limit,
      mostBytes: aheadBytes,
      ahead,
    };
    return overEvents(db, organization, needed, async (trx, { source }) => {
      const { rows } = await sql<EventRow & Fitting & { matches: boolean; number: number }>`
        with slice as materialized (
          select ${eventColumns} from ${source} as events where ${all([...base, ...indexedCondition(filters)])} order by created_at, id limit ${limit}
        ),
        numbered as (
          select *, ${all(eventConditions(filters))} as matches, (row_number() over ())::integer as number from slice
        )
        ${fitting(sql`select * from numbered where matches or number = ${limit}::integer`)}
      `.execute(trx);
      const last = rows.at(-1);
      const continues = last?.number === limit || isCut(rows);
      const items = rows.filter((row) => row.matches).map(provenEventOf);
      // Promises of pg and Kysely retain the array until a full garbage collection.
      rows.length = 0;
      if (last !== undefined && continues) {
        days = 1;
        return { items, next: positionOfEvent(last) };
      }
      days *= 2;
      return { items, next: end < filters.to.getTime() ? { createdAt: isoTime(end), id: smallestId } : undefined };
    });
  };
}

/** Before the oldest event that the filters allow; undefined without any. */
async function startOf(db: Database, organization: string, from: Date | undefined): Promise<EventPosition | undefined> {
  const oldest = await readAs(db, organization, (trx) => oldestEvent(trx, organization, from));
  return oldest === undefined ? undefined : { createdAt: isoTime(oldest), id: smallestId };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
