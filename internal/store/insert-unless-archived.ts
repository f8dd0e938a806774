import { isDeepStrictEqual } from 'node:util';
import { sql, type Kysely } from 'kysely';
import { within } from '../kit/async/within.ts';
import type { AcceptedEvent } from '../event/event.ts';
import type { Database, Tables } from './database.ts';
import { coldObjectsOf, mayBeCold } from './partitions/cold-days.ts';
import { dayOf } from './partitions/days.ts';
import type { ColdArchive, ColdObject, WantedEvents } from './tables/cold-days-table.ts';

/** Objects that are asked at once, and how long for, in ms: a volume may hang without an error. */
const [askedAtOnce, askedMs] = [8, 20_000];

/** Nothing of a batch was stored, since the archive did not say which of its events it has. */
export class ArchiveSilent extends Error {
  override readonly name = 'ArchiveSilent';
  readonly #objects: readonly ColdObject[];

  constructor(objects: readonly ColdObject[], cause: unknown) {
    super('the archive does not say whether it has an event', { cause });
    this.#objects = objects;
  }

  /** True of an event that must wait for the archive. */
  concerns(event: AcceptedEvent): boolean {
    return this.#objects.some((object) => isOf(object, event));
  }
}

/** True if an event of a batch may have been stored on a day that has left Postgres since. */
export function mayBeArchived(events: readonly AcceptedEvent[]): boolean {
  return events.some(({ createdAt }) => mayBeCold(createdAt));
}

/**
 * Inserts the events that the archive lacks: the others were stored, and counted, before their day
 * left Postgres. Begins again if a day leaves meanwhile.
 * @throws {ArchiveSilent} while the archive does not answer, or without one.
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

/** The events that these objects have. @throws {ArchiveSilent} */
async function archivedOf(
  { archive }: Database,
  objects: readonly ColdObject[],
  events: readonly AcceptedEvent[],
): Promise<ReadonlySet<AcceptedEvent>> {
  const archived = new Set<AcceptedEvent>();
  const silent: ColdObject[] = [];
  let failure: unknown;
  const ask = async (object: ColdObject): Promise<void> => {
    const own = events.filter((event) => isOf(object, event));
    try {
      if (archive === undefined) throw new Error('the day of an event is in the archive only: set ARCHIVE_URL');
      const ids = await within(askedMs, idsIn(archive, object, own));
      for (const event of own) if (ids.has(event.id)) archived.add(event);
    } catch (error) {
      silent.push(object);
      failure = error;
    }
  };
  for (let first = 0; first < objects.length; first += askedAtOnce) {
    // If it does not answer at all, it is not asked on: each time-out takes seconds.
    if (first > 0 && silent.length === first) silent.push(...objects.slice(first, first + askedAtOnce));
    else await Promise.all(objects.slice(first, first + askedAtOnce).map(ask));
  }
  if (silent.length > 0) throw new ArchiveSilent(silent, failure);
  return archived;
}

function isOf({ organization, day }: ColdObject, event: AcceptedEvent): boolean {
  return event.organization === organization && dayOf(event.createdAt) === day;
}

async function idsIn(
  archive: ColdArchive,
  object: ColdObject,
  events: readonly AcceptedEvent[],
): Promise<ReadonlySet<string>> {
  const ids = new Set(events.map(({ id }) => id));
  const times = events.map(({ createdAt }) => createdAt);
  const [executionId, ...others] = new Set(events.map((event) => event.executionId));
  const found = new Set<string>();
  const wanted: WantedEvents = {
    automationIds: [...new Set(events.map(({ automationId }) => automationId))],
    executionId: others.length === 0 ? executionId : undefined,
    from: Math.min(...times),
    to: Math.max(...times) + 1,
    matches: ({ id }) => ids.has(id),
  };
  for await (const rows of archive.read(object, wanted)) for (const { id } of rows) found.add(id);
  return found;
}
