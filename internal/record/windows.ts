import { mostAhead } from '../event/occurred-at.ts';
import { dayOf, daysBefore } from '../store/partitions/days.ts';
import { noneBefore } from '../store/compacted/expanded.ts';
import { sql } from '../store/sql.ts';
import { time, type Condition } from './conditions.ts';
import type { Reading } from './read-as.ts';
import type { EventPosition } from './stored-event.ts';

/** Smaller than every id: the position before all events of its time and later. */
export const smallestId = '00000000-0000-0000-0000-000000000000';

/** Events come with the clocks of ingest. */
const farFuture = new Date('9999-12-31T23:59:59.999Z');

interface TimeWindow {
  /** On `events`: in the window, and before the position. */
  conditions: Condition[];
  /** All its events were accepted between these. */
  times: { from: Date; until: Date };
  /** Resolves with where the next window ends; undefined if this one reaches the oldest event. */
  begin: (trx: Reading) => Promise<EventPosition | undefined>;
}

/**
 * Windows of days from newer to older, so that Postgres plans only the partitions of one window.
 * The first is the day of the position, or today and all later days; each later one is twice as
 * long; or a day, if they are to be `single`.
 */
export function windowsBackwards(
  organization: string,
  { from, to }: { from?: Date | undefined; to?: Date | undefined },
  { single = false } = {},
): { before: (after: EventPosition | undefined) => TimeWindow } {
  let days = 0;
  let oldest: number | undefined;
  return {
    before: (after) => {
      const end = after === undefined ? to : new Date(after.createdAt);
      const today = dayOf((end ?? new Date()).getTime());
      const atMidnight = after?.id === smallestId;
      const begin = daysBefore(today, atMidnight ? Math.max(1, days) : 0);
      days = atMidnight && !single ? days * 2 || 2 : 1;
      const first = new Date(Math.max(begin, oldest ?? from?.getTime() ?? begin));
      return {
        times: { from: first, until: end ?? farFuture },
        conditions: [
          sql`created_at >= ${time(first)}`,
          ...(to === undefined ? [] : [sql`created_at < ${time(to)}`]),
          ...(after === undefined ? [] : [before(after)]),
        ],
        begin: async (trx) => {
          oldest ??= await oldestEvent(trx, organization, from);
          const isLast = oldest === undefined || begin <= oldest;
          return isLast ? undefined : { createdAt: new Date(begin).toISOString(), id: smallestId };
        },
      };
    },
  };
}

/**
 * The condition for events before a position. Its first comparison prunes partitions, which a
 * comparison of rows would not.
 */
function before({ createdAt, id }: EventPosition): Condition {
  if (id === smallestId) return sql`created_at < ${time(createdAt)}`;
  return sql`created_at <= ${time(createdAt)} and (created_at, id) < (${time(createdAt)}, ${id}::uuid)`;
}

/**
 * A time before which no event was accepted: about that of the oldest execution's first event, less
 * what it may be ahead; or the wanted time if later.
 */
export async function oldestEvent(
  trx: Reading,
  organization: string,
  from: Date | undefined,
): Promise<number | undefined> {
  const { rows } = await sql<{ first: Date | null }>`
    select least((
      select first_event_at from executions where organization = ${organization} order by first_event_at limit 1
    ), ${noneBefore(organization)}) as first
  `.execute(trx);
  const [oldest] = rows;
  if (oldest === undefined || oldest.first === null) return undefined;
  return Math.max(oldest.first.getTime() - mostAhead, from?.getTime() ?? -Infinity);
}
