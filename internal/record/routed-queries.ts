import { decorated, type Operation, type Queries } from './queries.ts';
import { unavailable } from '../kit/errors/request-error.ts';
import type { StoredSince, StreamPosition } from './stream.ts';

/** Where organizations are: their database, and its snapshot after which streams continue. */
export interface Places {
  /** True once the places are known. */
  readonly isKnown: boolean;
  placeOf(organization: string): { database: string; streamSince: string | undefined };
}

/** The operations on several databases: each reads the database of its organization. */
export function routeRecord(records: ReadonlyMap<string, Queries>, places: Places): Queries {
  const [first] = records.values();
  if (first === undefined) throw new Error('there is no database');
  const of = (organization: string): Queries => recordOf(records, placeOf(places, organization).database);
  return {
    ...decorated(first, (name) => async (organization, ...query) => {
      const operation = of(organization)[name] as Operation;
      return operation(organization, ...query);
    }),
    exportEvents: (...query) => exportFrom(() => of(query[0]), query),
    pollStored: (...query) => pollStored(records, places, ...query),
  };
}

/** @throws {RequestError} before the places are known. */
function placeOf(places: Places, organization: string): ReturnType<Places['placeOf']> {
  if (!places.isKnown) throw unavailable('The record cannot be read now.');
  return places.placeOf(organization);
}

/** @throws {RequestError} for a database that is not among the settings. */
function recordOf(records: ReadonlyMap<string, Queries>, database: string): Queries {
  const record = records.get(database);
  if (record !== undefined) return record;
  throw unavailable('The record cannot be read now.', new Error(`DATABASE_URLS lacks the database ${database}`));
}

/** An export stays in the database where it began: its rows remain there after a move. */
async function* exportFrom(
  record: () => Queries,
  query: Parameters<Queries['exportEvents']>,
): ReturnType<Queries['exportEvents']> {
  yield* record().exportEvents(...query);
}

/** Polls. With a position in another database, the organization has moved since. */
async function pollStored(
  records: ReadonlyMap<string, Queries>,
  places: Places,
  organization: string,
  since: StreamPosition | undefined,
  limit: number,
): Promise<StoredSince> {
  const { database, streamSince } = placeOf(places, organization);
  const record = recordOf(records, database);
  // An id from before there were several databases names none and means the first one.
  const from = since && { ...since, database: since.database ?? [...records.keys()][0] };
  const poll = async (position: StreamPosition | undefined): Promise<StoredSince> =>
    named(await record.pollStored(organization, position, limit), database);
  if (from?.database === undefined || from.database === database || streamSince === undefined) return poll(since);
  const left = records.get(from.database);
  const rest = left === undefined ? [] : await pollRest(left, organization, from, limit);
  const newestAt = rest.at(-1)?.position.newestAt ?? from.newestAt;
  // The `until` of a position within a batch belongs to the database that the organization has
  // left.
  const until = from.after === undefined ? from.until : undefined;
  return joined([...rest, await poll({ since: streamSince, newestAt, until, database })]);
}

/** What an organization's former database has stored since; it stores nothing more. */
async function pollRest(
  record: Queries,
  organization: string,
  since: StreamPosition,
  limit: number,
): Promise<StoredSince[]> {
  const { database } = since;
  const batch = since.after === undefined ? [] : [named(await record.pollStored(organization, since, limit), database)];
  const from = batch[0]?.position ?? { since: since.since, newestAt: since.newestAt, database };
  return [...batch, named(await record.pollStored(organization, from, limit), database)];
}

/** Adds the name of the database to the positions. */
function named(stored: StoredSince, database: string | undefined): StoredSince {
  return {
    ...stored,
    events: stored.events.map(({ event, position }) => ({ event, position: { ...position, database } })),
    position: { ...stored.position, database },
  };
}

/** Joins consecutive polls. A later state of an execution replaces the earlier one. */
function joined(parts: readonly StoredSince[]): StoredSince {
  const last = parts.at(-1);
  if (last === undefined) throw new Error('there is no poll to join');
  return {
    events: parts.flatMap(({ events }) => events),
    executions: parts.flatMap(({ executions }) => executions),
    omitted: parts.reduce((sum, { omitted }) => sum + omitted, 0),
    position: last.position,
  };
}
