import { isDeepStrictEqual } from 'node:util';
import type { Database } from '../store/database.ts';
import { dayAfter, isoDay } from '../store/partitions/days.ts';
import { listColdObjects, mayBeCold } from '../store/partitions/cold-days.ts';
import type { ColdArchive, ColdObject, WantedEvents } from '../store/tables/cold-days-table.ts';
import { sql } from '../store/sql.ts';
import type { EventRow as ArchivedRow } from '../store/tables/events-table.ts';
import { ArchiveAway } from './archive/archive-errors.ts';
import { archivedEvents } from './archived-events.ts';
import { time, type Condition } from './conditions.ts';
import { readAs, type Reading } from './read-as.ts';
import { optionalFields } from '../event/fields.ts';
import { eventColumns, type EventPosition, type EventRow } from './stored-event.ts';

/** How long a read of the archive may take that can end with what it has, in ms. */
const patienceMs = 2_000;

/** The events that a query may need of cold days. */
export interface NeededEvents extends Omit<WantedEvents, 'from' | 'to'> {
  /** Accepted between these times, both included. */
  from: Date;
  until: Date;
  /**
   * Most of them, the oldest or the newest. By time of acceptance, unless `timeOf` says otherwise.
   */
  most: number;
  keep: 'oldest' | 'newest';
  timeOf?: (event: EventRow) => number;
  /** Of the events with the same text, one suffices. Default: all. */
  onePer?: (event: EventRow) => string;
  /** Bytes of texts after which the oldest or the newest suffice, for a query that reads a page. */
  mostBytes?: number;
  /** Keeps what was read beyond a page for the next one. */
  ahead?: ReadAhead;
  /** True if the query reads no text, which spares memory. */
  slim?: boolean;
  /** True if the query can say that it has not seen the events before {@link Events.since}. */
  mayEnd?: boolean;
}

/** An object of the archive that an answer comes from. */
export interface ArchivedSource {
  /** As `2026-11-21`. */
  day: string;
  object: string;
  manifest_sha256: string;
}

/** The events that a query reads. */
export interface Events {
  /** In place of the table `events`, in a `from` clause, before an alias. */
  source: Condition;
  /** The objects that the archive's events come from; absent if all are in Postgres. */
  archived?: ArchivedSource[];
  /** If the archive was read up to here only: events accepted before are missing. */
  since?: Date;
}

/**
 * Runs a query over the events of an organization, wherever they are: this is the one place that
 * looks for days which only the archive has, and the query sees their events beside those in
 * Postgres. Repeats itself when a day became cold meanwhile.
 * @throws {ArchiveAway} or `ArchiveDamaged` if the query needs what the archive does not give.
 */
export function overEvents<T>(
  db: Database,
  organization: string,
  needed: NeededEvents,
  query: (trx: Reading, events: Events) => Promise<T>,
): Promise<T> {
  return overObjects(db, organization, needed, async (objects) => {
    const events = objects.length === 0 ? { source: sql`events` } : await withArchived(db, objects, needed);
    return readAs(db, organization, (trx) => query(trx, events));
  });
}

/**
 * Counts the events of an organization that are needed of cold days, and adds what `query` counts
 * in Postgres, which has no event of these. Holds a row group at a time, however many there are.
 * @throws as {@link overEvents} does.
 */
export function countOverEvents<Name extends string>(
  db: Database,
  organization: string,
  needed: Pick<NeededEvents, 'from' | 'until'> & Omit<WantedEvents, 'from' | 'to'>,
  counted: Readonly<Record<Name, (event: ArchivedRow) => boolean>>,
  query: (trx: Reading) => Promise<Record<Name, number>>,
): Promise<Record<Name, number>> {
  return overObjects(db, organization, needed, async (objects) => {
    const counts = await readAs(db, organization, query);
    const wanted = { ...needed, from: needed.from.getTime(), to: needed.until.getTime() + 1 };
    for (const object of objects) {
      for await (const events of archiveOf(db).read(object, wanted)) {
        for (const name of Object.keys(counted) as Name[]) counts[name] += events.filter(counted[name]).length;
      }
    }
    return counts;
  });
}

/** Does work over the objects of the cold days that are needed, again if a day became cold. */
async function overObjects<T>(
  db: Database,
  organization: string,
  needed: Pick<NeededEvents, 'from' | 'until'>,
  work: (objects: readonly ColdObject[]) => Promise<T>,
): Promise<T> {
  const look = async (): Promise<ColdObject[]> => {
    const [from, until] = [needed.from.getTime(), needed.until.getTime()];
    if (!mayBeCold(from) || from > until) return [];
    return readAs(db, organization, (trx) => listColdObjects(trx, organization, { from, until }));
  };
  // Without an archive, most databases have no cold day, and one look suffices.
  let known = db.archive === undefined ? [] : await look();
  for (;;) {
    const result = await work(known);
    const now = await look();
    if (isDeepStrictEqual(now, known)) return result;
    known = now;
  }
}

/** True if an organization has a cold day since a time. */
export async function hasColdSince(db: Database, organization: string, from: Date): Promise<boolean> {
  if (!mayBeCold(from.getTime())) return false;
  const days = await readAs(db, organization, (trx) => listColdObjects(trx, organization, { from: from.getTime() }));
  return days.length > 0;
}

async function withArchived(db: Database, objects: readonly ColdObject[], needed: NeededEvents): Promise<Events> {
  const { kept, since } = await readArchived(db, objects, needed);
  const sources = new Map([...kept.values()].map(({ object }) => [object, sourceOf(object)]));
  const [first] = objects.map(({ day }) => day).sort((a, b) => a - b);
  const last = Math.max(...objects.map(({ day }) => dayAfter(day)));
  return {
    source: sql`(
      select organization, ${eventColumns} from events
      union all
      ${archivedEvents(Array.from(kept.values(), ({ event }) => event))}
      where not exists (
        select from events stored where stored.organization = archived.organization
          and stored.created_at = archived.created_at and stored.id = archived.id
          and stored.created_at >= ${time(new Date(first ?? 0))} and stored.created_at < ${time(new Date(last))}
      )
    )`,
    ...(sources.size > 0 && { archived: [...sources.values()] }),
    ...(since !== undefined && { since }),
  };
}

interface Kept {
  event: ArchivedRow;
  object: ColdObject;
}

/** Events of cold days that were read ahead of a page, in their order, and of which objects. */
export interface ReadAhead {
  kept?: { objects: readonly ColdObject[]; events: Map<string, Kept>; isAll: boolean } | undefined;
}

/** Events that are read ahead: a page in the order of time scans its day. */
const aheadEvents = 10_000;

/** Reads what is needed of the objects, or takes it from what was read ahead. */
async function readArchived(
  db: Database,
  objects: readonly ColdObject[],
  { ahead, ...needed }: NeededEvents,
): Promise<{ kept: Map<string, Kept>; since?: Date }> {
  if (ahead === undefined) return scan(db, objects, needed);
  const { matches = () => true, most } = needed;
  const known = ahead.kept;
  if (known !== undefined && isDeepStrictEqual(known.objects, objects)) {
    const rest = new Map([...known.events].filter(([, { event }]) => matches(event)));
    if (known.isAll || rest.size >= most) return { kept: new Map([...rest].slice(0, most)) };
  }
  const { kept } = await scan(db, objects, { ...needed, most: aheadEvents });
  ahead.kept = { objects, events: kept, isAll: kept.size < aheadEvents && !isHeavy(kept, needed) };
  return { kept: new Map([...kept].slice(0, most)) };
}

/** Reads the objects day by day, in the order of what is kept, until no other day can matter. */
async function scan(
  db: Database,
  objects: readonly ColdObject[],
  { from, until, keep, timeOf, onePer = idOf, mayEnd = false, slim = false, ...needed }: NeededEvents,
): Promise<{ kept: Map<string, Kept>; since?: Date }> {
  const direction = keep === 'oldest' ? 1 : -1;
  const compare = (a: Kept, b: Kept): number => direction * compareEvents(a.event, b.event, timeOf);
  const begun = performance.now();
  const wanted = { ...needed, from: from.getTime(), to: until.getTime() + 1 };
  const cut = (all: Map<string, Kept>): Map<string, Kept> =>
    cutTo(
      needed,
      [...all].sort(([, a], [, b]) => compare(a, b)),
    );
  let kept = new Map<string, Kept>();
  let lastDay = Number.NaN;
  for (const object of [...objects].sort((a, b) => direction * (a.day - b.day))) {
    if (object.day !== lastDay) {
      if (timeOf === undefined && (kept.size >= needed.most || isHeavy(kept, needed))) break;
      if (mayEnd && performance.now() - begun > patienceMs) return { kept, since: new Date(dayAfter(object.day)) };
    }
    lastDay = object.day;
    for await (const events of archiveOf(db).read(object, wanted)) {
      for (const event of events) {
        kept.set(onePer(event), { event: slim ? { ...event, ...noTexts } : event, object });
      }
      if (kept.size > 2 * needed.most || isHeavy(kept, needed, 2)) kept = cut(kept);
    }
  }
  return { kept: cut(kept) };
}

/** The first of these, up to the bounds of what is needed. */
function cutTo({ most, mostBytes = Infinity }: Pick<NeededEvents, 'most' | 'mostBytes'>, sorted: [string, Kept][]) {
  let bytes = 0;
  const end = sorted.findIndex(([, { event }], at) => at >= most || (bytes += bytesOf(event)) > mostBytes);
  return new Map(end === -1 ? sorted : sorted.slice(0, Math.min(end + 1, most)));
}

/** True if texts have reached the bound, so that a page ends among these events. */
function isHeavy(kept: Map<string, Kept>, { mostBytes }: Pick<NeededEvents, 'mostBytes'>, times = 1): boolean {
  if (mostBytes === undefined) return false;
  let bytes = 0;
  for (const { event } of kept.values()) bytes += bytesOf(event);
  return bytes > times * mostBytes;
}

function bytesOf(event: EventRow): number {
  return optionalFields.reduce((sum, { column }) => sum + event[column].length, 0);
}

const noTexts = { description: '', error_description: '' };

function archiveOf({ archive }: Database): ColdArchive {
  if (archive !== undefined) return archive;
  throw new ArchiveAway('these days are in the archive only, and ARCHIVE_URL is not set');
}

const idOf = (event: EventRow): string => event.id;
const acceptedAt = (event: EventRow): number => event.created_at.getTime();

function compareEvents(a: EventRow, b: EventRow, timeOf = acceptedAt): number {
  return timeOf(a) - timeOf(b) || (a.id < b.id ? -1 : Number(a.id > b.id));
}

/** True of events after a position in the order of acceptance. */
export function isAfter({ createdAt, id }: EventPosition): (event: EventRow) => boolean {
  const at = Date.parse(createdAt);
  return (event) => event.created_at.getTime() > at || (event.created_at.getTime() === at && event.id > id);
}

/** True of events before a position in the order of acceptance. */
export function isBefore({ createdAt, id }: EventPosition): (event: EventRow) => boolean {
  const at = Date.parse(createdAt);
  return (event) => event.created_at.getTime() < at || (event.created_at.getTime() === at && event.id < id);
}

function sourceOf({ day, object, manifestSha256 }: ColdObject): ArchivedSource {
  return { day: isoDay(day), object, manifest_sha256: manifestSha256 };
}
