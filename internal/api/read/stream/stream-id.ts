import type { StreamPosition } from '../../../record/stream.ts';
import { decodeCursor, encodeCursor, type CursorScope, type PlaceTable } from '../cursor.ts';
import { Fault } from '../fault.ts';
import { recordedTime, uuid, type Parameter } from '../parameters.ts';

/** A position in one level; '' for what is absent. */
interface Place {
  since: string;
  newestAt: string;
  until: string;
  createdAt: string;
  id: string;
}

/** With several databases. */
interface NamedPlace extends Place {
  database: string;
}

/** Reads a snapshot of Postgres: first and next transaction, and those under way, in order. */
const snapshot: Parameter<string> = (text) => {
  const [, first = '', next = '', underWay = ''] = /^(\d{1,19}):(\d{1,19}):((?:\d{1,19},)*\d{0,19})$/.exec(text) ?? [];
  const numbers = [first, ...underWay.split(','), next].filter((number) => number !== '').map(BigInt);
  const ordered = numbers.every((number, index) => number > 0n && number >= (numbers[index - 1] ?? 0n));
  return numbers.length >= 2 && ordered ? text : new Fault('is no snapshot');
};

const table: PlaceTable<Place> = {
  since: snapshot,
  newestAt: recordedTime,
  until: optional(snapshot),
  createdAt: optional(recordedTime),
  id: optional(uuid),
};

const namedTable: PlaceTable<NamedPlace> = { ...table, database: (text) => text };

/** Encodes a position as the `id` of a message, for the streams of one organization. */
export function streamId({ since, newestAt, until, after, database }: StreamPosition, organization: string): string {
  const place: Place | NamedPlace = {
    since,
    newestAt,
    until: until ?? '',
    createdAt: after?.createdAt ?? '',
    id: after?.id ?? '',
    ...(database !== undefined && { database }),
  };
  return encodeCursor(place, scopeOf(organization));
}

/** Decodes an id; undefined for one that is not an id of the organization's streams. */
export function streamPosition(id: string, organization: string): StreamPosition | undefined {
  const place = decodeCursor(id, namedTable, scopeOf(organization));
  if (place === undefined) return undefined;
  const { since, newestAt, until, createdAt } = place;
  // An id of a console with one database names none.
  const database = place.database === 'undefined' ? {} : { database: place.database };
  if (until === '' || createdAt === '' || place.id === '') return { since, newestAt, ...database };
  return { since, newestAt, until, after: { createdAt, id: place.id }, ...database };
}

function scopeOf(organization: string): CursorScope {
  return { endpoint: '/v1/stream', organization, filters: '' };
}

function optional(read: Parameter<string>): Parameter<string> {
  return (text) => (text === '' ? text : read(text));
}
