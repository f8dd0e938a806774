import { mostAhead } from '../event/occurred-at.ts';
import { sql } from '../store/sql.ts';
import { time } from './conditions.ts';
import type { ExecutionPosition, ExecutionRow } from './execution.ts';
import type { Slice } from './fill-page.ts';
import { isError } from './match-events.ts';
import type { Reading } from './read-as.ts';
import {
  reachOf,
  rowsOfSlice,
  rowsThatMatch,
  sliceOf,
  type Numbered,
  type Reach,
  type SliceOptions,
} from './slice-of-executions.ts';

const [dayMs, minuteMs] = [24 * 3_600_000, 60_000];

/** An event may have occurred a little later than it was accepted. */
const ahead = sql`${sql.lit(mostAhead)} * interval '1 ms'`;

/** A slice, and a time before which none of its events was accepted; none without a row. */
export interface SliceSince extends Slice<ExecutionRow, ExecutionPosition> {
  begin: Date | undefined;
}

interface Times {
  from: Date;
  until: Date;
}

/** A row, with facts about the whole slice. */
interface Row extends ExecutionRow, Numbered, Reach {
  /** No event of the slice was accepted before this time. */
  begin: Date;
  /** No event of the slice was accepted or occurred after this time. */
  end: Date;
  /** Its executions end soon after the last of them has begun. */
  short: boolean;
  /** The slice also lies within the times that the query was given. */
  near: boolean;
}

/**
 * Reads a slice, and which of its executions have an ERROR with this `error_id`. Takes one query if
 * they began in the day before `to` (or now), otherwise two: while workers drain a queue, each
 * query waits for a core. Reads all errors of that time; resolves with undefined if long executions
 * could make these too many, or if some may be compacted.
 */
export async function readSliceWithError(
  trx: Reading,
  errorId: string,
  options: SliceOptions,
  meanwhile: Times = aroundTheNewest(options),
): Promise<SliceSince | undefined> {
  // Postgres prunes partitions only by times that the query itself states.
  const [from, until] = [time(meanwhile.from), time(meanwhile.until)];
  const { rows } = await sql<Row>`
    with slice as materialized (${rowsOfSlice(options)}), ${reachOf(options)},
    times as (
      select min(first_event_at - case when last_accepted_at is null then interval '0' else ${ahead} end) as begin,
        max(first_event_at) as last_begin, max(greatest(last_event_at, last_accepted_at)) as end, count(*) as size
      from slice
    ),
    span as materialized (
      select *, begin >= ${from} and times.end <= ${until} and short as near from times cross join lateral (
        select times.end - last_begin <= greatest(interval '1 s', last_begin - begin) as short
      ) as lengths
    ),
    errors as materialized (
      select distinct automation_id, execution_id from events
      where organization = ${options.organization} and ${isError(errorId)} and created_at between ${from} and ${until}
        and created_at between (select begin from span where near) and (select span.end from span where near)
    ),
    numbered as (
      select slice.*, (row_number() over ())::integer as number, begin, span.end, size, short, near,
        ${rowsThatMatch(options.filters)}
          and (automation_id, execution_id) in (select automation_id, execution_id from errors) as matches
      from slice, span
    )
    select * from reach left join (select * from numbered where matches or number = size) as r on true order by number
  `.execute(trx);
  const [first] = rows;
  if (first?.is_older === true) return undefined;
  if (first === undefined || first.number === null) return { matches: [], begin: undefined };
  if (first.near) return { ...sliceOf(rows, options), begin: first.begin };
  if (!first.short) return undefined;
  // Events may come before the next query.
  const end = first.end.getTime() + minuteMs;
  return readSliceWithError(trx, errorId, options, { from: first.begin, until: new Date(end) });
}

function aroundTheNewest({ after, filters }: SliceOptions): Times {
  const newest = after === undefined ? (filters.to ?? new Date()) : new Date(after.firstEventAt);
  return { from: new Date(newest.getTime() - dayMs), until: new Date(newest.getTime() + dayMs) };
}
