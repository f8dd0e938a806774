import { sql, type Kysely, type RawBuilder } from 'kysely';
import { firstColumns, rowReader, separator, timeType, type Column, type JoinedEvent } from '../ledger/joined-row.ts';
import { digestOfProven } from '../ledger/event-digest.ts';
import { leafSize, writeLeaf } from '../ledger/leaf.ts';
import { storedJson, type StoredEvent } from '../ledger/stored-json.ts';
import type { Tables } from './database.ts';
import { optionalFields } from '../event/fields.ts';
import type { EventRow } from './tables/events-table.ts';

/** The place of an event in the order of acceptance. */
export interface Place {
  /** In UTC, as Postgres or ISO 8601 writes it. */
  readonly createdAt: string;
  readonly id: string;
}

/** Consecutive events with their leaves. */
export interface StoredPage {
  readonly ids: readonly string[];
  /** When each was accepted, in ms since the Unix epoch. */
  readonly times: readonly number[];
  /** Their leaves, concatenated. */
  readonly leaves: Buffer;
  /** The last event; undefined if there is none. */
  readonly last: Place | undefined;
  /**
   * True if an event has lost its texts to an erasure, or to somebody who made it look like one.
   */
  readonly hasErased: boolean;
  /** The event at a position, with the columns that are neither null nor empty. */
  readonly eventAt: (position: number) => StoredEvent;
}

export interface PageOptions {
  organization: string;
  /** Begins after this event, or with the oldest one if absent. */
  after?: Place | undefined;
  pageSize: number;
  /** Ends before the events accepted at this time. Default: no end. */
  before?: Date;
  /** The most events of all pages together. Default: no limit. */
  most?: number;
  /** Leaves out the events that {@link isUnsalted}. */
  salted?: boolean;
}

/** True of a row whose texts have no salt: a worker without a log stored it. */
export const isUnsalted = sql<boolean>`(
  salt is null and texts_digest is null and concat(${sql.join(optionalFields.map(({ column }) => sql.ref(column)))}) <> ''
)`;

/**
 * The events of an organization, oldest first. The last page is empty unless `most` were read.
 * Postgres reads the next page meanwhile, so no other query may use the connection. A row comes as
 * one text, which takes half the CPU time of an object; a page with an unreadable row is read again
 * as objects.
 */
export async function* readStoredEvents(db: Kysely<Tables>, options: PageOptions): AsyncGenerator<StoredPage> {
  const columns = await readColumns(db);
  const readRow = rowReader(columns);
  const joined = joinedRow(columns);
  let { after, most: left = Infinity } = options;
  const rowsAfter = (place: Place | undefined) => rowsOf({ ...options, after: place, most: left });
  const query = async (): Promise<readonly string[]> => {
    const { rows } = await sql<{ row: string }>`select ${joined} as row ${rowsAfter(after)}`.execute(db);
    return rows.map(({ row }) => row);
  };
  let next = query();
  for (;;) {
    const rows = await next;
    const objects = sql<EventRow>`select * ${rowsAfter(after)}`;
    const last = placeOf(rows.at(-1));
    left -= rows.length;
    const ends = last === undefined || left === 0;
    after = last;
    if (!ends) {
      next = query();
      // The caller may have stopped reading.
      next.catch(() => undefined);
    }
    const page = pageOf(rows, last, readRow) ?? pageOf((await objects.execute(db)).rows, last, readObject);
    if (page !== undefined) yield page;
    if (ends) return;
  }
}

/** The condition of events that follow a place in the order of acceptance. */
export function eventsAfter(organization: string, after: Place | undefined): RawBuilder<unknown> {
  const further =
    after === undefined
      ? sql``
      : sql`and (created_at, id) > (${after.createdAt}::timestamp at time zone 'UTC', ${after.id}::uuid)`;
  return sql`organization = ${organization} ${further}`;
}

function rowsOf({ organization, after, before, pageSize, most = Infinity, salted }: PageOptions): RawBuilder<unknown> {
  return sql`
    from events where ${eventsAfter(organization, after)} ${salted === true ? sql`and not ${isUnsalted}` : sql``}
      ${before === undefined ? sql`` : sql`and created_at < ${before}`}
    order by events.created_at, id limit ${Math.min(pageSize, most)}
  `;
}

/** The columns of `events` in the order of a joined row. A later release may add some. */
async function readColumns(db: Kysely<Tables>): Promise<Column[]> {
  const { rows } = await sql<Column>`
    select attname as name, atttypid::regtype::text as type from pg_attribute
    where attrelid = 'events'::regclass and attnum > 0 and not attisdropped
    order by array_position(${sql.lit(`{${firstColumns.join(',')}}`)}::name[], attname), attname
  `.execute(db);
  return rows;
}

function joinedRow(columns: readonly Column[]): RawBuilder<unknown> {
  const texts = columns.map(({ name, type }) => {
    const column = sql.ref(name);
    if (type === 'bytea') return sql`coalesce(encode(${column}, 'hex'), '')`;
    return sql`coalesce(${type === timeType ? sql`(${column} at time zone 'UTC')` : column}::text, '')`;
  });
  return sql`concat_ws(${sql.lit(separator)}, ${sql.join(texts)})`;
}

function placeOf(row: string | undefined): Place | undefined {
  const [createdAt, id] = row?.split(separator, firstColumns.length) ?? [];
  return createdAt === undefined || id === undefined ? undefined : { createdAt, id };
}

function readObject(row: EventRow): JoinedEvent {
  const { id, created_at: time, salt, texts_digest: textsDigest } = row;
  return { id, time: Number(time), ...storedJson(row), salt, textsDigest };
}

/** The page of events that are not in Postgres. */
export function pageOfRows(rows: readonly EventRow[]): StoredPage {
  const last = rows.at(-1);
  const page = pageOf(rows, last && { createdAt: last.created_at.toISOString(), id: last.id }, readObject);
  if (page === undefined) throw new Error('a row has no leaf');
  return page;
}

/** Undefined if a row cannot be read. */
function pageOf<Row>(
  rows: readonly Row[],
  last: Place | undefined,
  read: (row: Row) => JoinedEvent | undefined,
): StoredPage | undefined {
  const leaves = Buffer.allocUnsafe(rows.length * leafSize);
  const ids: string[] = [];
  const times: number[] = [];
  let hasErased = false;
  for (const row of rows) {
    // The page keeps only the row: keeping its parsed JSON would cost much garbage collection.
    const event = read(row);
    if (event === undefined) return undefined;
    writeLeaf(leaves, ids.length * leafSize, event.id, digestOfProven(event));
    ids.push(event.id);
    times.push(event.time);
    hasErased ||= event.textsDigest !== null;
  }
  const eventAt = (position: number): StoredEvent => {
    const event = rows.slice(position, position + 1).map(read)[0];
    if (event === undefined) throw new Error(`the page has no event ${position}`);
    const columns = { ...JSON.parse(event.metadata), ...JSON.parse(event.texts) } as StoredEvent;
    return { ...columns, salt: event.salt, texts_digest: event.textsDigest };
  };
  return { ids, times, leaves, last, hasErased, eventAt };
}
