import { isDeepStrictEqual } from 'node:util';
import { sql, type Kysely } from 'kysely';
import type { AcceptedEvent } from '../event/event.ts';
import type { Database, Tables } from './database.ts';
import { coldObjectsOf, mayBeCold } from './partitions/cold-days.ts';
import { dayOf } from './partitions/days.ts';
import type { ColdArchive, ColdObject } from './tables/cold-days-table.ts';

/** True if an event of a batch may have been stored on a day that has left Postgres since. */
export function mayBeArchived(events: readonly AcceptedEvent[]): boolean {
  return events.some(({ createdAt }) => mayBeCold(createdAt));
}

/**
 * Inserts the events that the archive lacks: the others were stored, and counted, before their day
 * left Postgres. Begins again if a day leaves meanwhile. Fails while the archive does not answer.
 */
export async function insertUnlessArchived<T>(
  db: Database,
  events: readonly AcceptedEvent[],
  insert: (trx: Kysely<Tables>, events: readonly AcceptedEvent[]) => Promise<T>,
): Promise<T> {
  const days = events
    .filter(({ createdAt }) => mayBeCold(createdAt))
    .map(({ organization, createdAt }) => ({ organization, day: dayOf(createdAt) }));
  for (;;) {
    const objects = await coldObjectsOf(db, days);
    const archived = await archivedOf(db, objects, events);
    const work = async (trx: Kysely<Tables>): Promise<T | undefined> => {
      // No day leaves while this lock is held.
      await sql`lock table only events in row exclusive mode`.execute(trx);
      if (!isDeepStrictEqual(await coldObjectsOf(trx, days), objects)) return undefined;
      return insert(
        trx,
        events.filter((event) => !archived.has(event)),
      );
    };
    const inserted = await db.transaction().execute(work);
    if (inserted !== undefined) return inserted;
  }
}

/** The events that these objects have. */
async function archivedOf(
  { archive }: Database,
  objects: readonly ColdObject[],
  events: readonly AcceptedEvent[],
): Promise<ReadonlySet<AcceptedEvent>> {
  const archived = new Set<AcceptedEvent>();
  for (const object of objects) {
    if (archive === undefined) throw new Error('the day of an event is in the archive only: set ARCHIVE_URL');
    const own = events.filter(
      ({ organization, createdAt }) => organization === object.organization && dayOf(createdAt) === object.day,
    );
    const ids = await idsIn(archive, object, own);
    for (const event of own) if (ids.has(event.id)) archived.add(event);
  }
  return archived;
}

async function idsIn(
  archive: ColdArchive,
  object: ColdObject,
  events: readonly AcceptedEvent[],
): Promise<ReadonlySet<string>> {
  const ids = new Set(events.map(({ id }) => id));
  const automationIds = [...new Set(events.map(({ automationId }) => automationId))];
  const found = new Set<string>();
  const wanted = { automationIds, matches: ({ id }: { id: string }) => ids.has(id) };
  for await (const rows of archive.read(object, wanted)) for (const { id } of rows) found.add(id);
  return found;
}
