import { sql } from '../../store/sql.ts';
import { dayAfter } from '../../store/partitions/days.ts';
import { pageOfRows, readStoredEvents, type Place, type StoredPage } from '../../store/stored-events.ts';
import type { ColdArchive, ColdObject } from '../../store/tables/cold-days-table.ts';
import type { EventRow } from '../../store/tables/events-table.ts';
import type { Reading } from './read-database.ts';

/** Events that are compared at a time. */
const pageSize = 10_000;

/** About how many events of a cold day are sorted at once: the archive has another order. */
const sortedAtOnce = 100_000;

/** The events to compare: those in Postgres and, with an archive, those of cold days. */
export interface ComparedEvents {
  readonly beside: Reading;
  readonly organization: string;
  /** Absent: only the events in Postgres. */
  readonly archive?: ColdArchive | undefined;
  /** Oldest first. */
  readonly cold: readonly ColdObject[];
}

/** All events in the order of their ids, wherever they are. The last page is empty. */
export async function* comparedPages(compared: ComparedEvents): AsyncGenerator<StoredPage> {
  const { beside, organization, archive, cold } = compared;
  let after: Place | undefined;
  for (const [day, objects] of archive === undefined ? [] : Map.groupBy(cold, (object) => object.day)) {
    for await (const page of readStoredEvents(beside, { organization, pageSize, after, before: new Date(day) })) {
      if (page.last !== undefined) yield page;
    }
    yield* pagesOfDay(compared, day, objects);
    after = { createdAt: new Date(dayAfter(day)).toISOString(), id: '00000000-0000-0000-0000-000000000000' };
  }
  yield* readStoredEvents(beside, { organization, pageSize, after });
}

async function* pagesOfDay(
  { beside, organization, archive }: ComparedEvents,
  day: number,
  objects: readonly ColdObject[],
): AsyncGenerator<StoredPage> {
  const slices = Math.ceil(objects.reduce((sum, { rows }) => sum + rows, 0) / sortedAtOnce);
  const timeOf = (slice: number): number => Math.floor(day + ((dayAfter(day) - day) * slice) / slices);
  for (let slice = 0; slice < slices; slice += 1) {
    const [from, to] = [timeOf(slice), timeOf(slice + 1)];
    // Events that came later than the objects were written.
    const { rows: late } = await sql<EventRow>`
      select * from events where organization = ${organization}
        and created_at >= ${new Date(from)} and created_at < ${new Date(to)}
    `.execute(beside);
    const all = [late];
    for (const object of objects) for await (const some of archive?.read(object, { from, to }) ?? []) all.push(some);
    const rows = all.flat().sort((a, b) => (a.id < b.id ? -1 : 1));
    if (rows.length > 0) yield pageOfRows(rows);
  }
}
