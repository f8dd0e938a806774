import { optionalFields } from '../event/fields.ts';
import { sql } from '../store/sql.ts';
import type { Condition } from './conditions.ts';
import type { EventRow } from './stored-event.ts';

/**
 * Bytes of the texts of a page's events, as Postgres stores them; the page ends with the event that
 * exceeds it. V8 needs at most twice as many.
 */
export const mostBytes = 2 * 1024 * 1024;

/** Characters of texts that a page needs of the archive, more than its bytes: it ends before. */
export const archivedBytes = 2 * mostBytes;

const textBytes = sql.raw(optionalFields.map(({ column }) => `octet_length(${column})`).join(' + '));

/** A row of {@link fitting}. */
export interface Fitting {
  /** Bytes of the texts of this row and those before. */
  bytes: number;
  /** The number of rows, including those left out. */
  found: number;
}

/**
 * Limits a query to the first events whose texts fit into a page of `most` bytes, at least one, in
 * the order of the column `number`.
 */
export function fitting(events: Condition, most = mostBytes): Condition {
  return sql`
    select * from (
      select *, (sum(size) over (order by number))::integer as bytes, (count(*) over ())::integer as found
      from (select *, ${textBytes} as size from (${events}) as events) as sized
    ) as measured
    where bytes - size < ${sql.lit(most)} order by number
  `;
}

/** True if the query found more than these rows. */
export function isCut(rows: readonly (EventRow & Fitting)[]): boolean {
  return rows.length < (rows[0]?.found ?? 0);
}
