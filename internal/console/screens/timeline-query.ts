import { Fault } from '../../readapi/fault.ts';
import { oneOf, recordedTime, uuid, type Parameter } from '../../readapi/parameters.ts';
import { readQuery } from '../../readapi/query.ts';
import type { Context } from '../../intake/http/page-route.ts';
import { eventKinds, type EventKind } from '../../event/schema.ts';
import type { TimelineRequest } from '../../record/list-timeline.ts';
import type { EventPosition, StoredEvent } from '../../record/stored-event.ts';

/** `created_at` and id of an event, separated by a comma, as in the export. */
const position: Parameter<EventPosition> = (text) => {
  const [createdAt = '', id = '', ...more] = text.split(',');
  const place = { createdAt: recordedTime(createdAt), id: uuid(id) };
  if (more.length === 0 && typeof place.createdAt === 'string' && typeof place.id === 'string')
    return { createdAt: place.createdAt, id: place.id };
  return new Fault('must be created_at and id of an event, with a comma between');
};

const table = {
  kind: oneOf(eventKinds),
  after: position,
  before: position,
  around: position,
  last: oneOf(['true']),
} as const;

/** The part of the timeline that the address of an execution asks for. */
export interface TimelineQuery {
  kind: EventKind | undefined;
  place: TimelineRequest['place'];
  /** The parameters as given in the address. */
  given: Readonly<Record<string, string>>;
}

/** @throws {RequestError} that names each faulty parameter. */
export function readTimelineQuery(ctx: Context): TimelineQuery {
  const { kind, after, before, around, last } = readQuery(ctx, table);
  const given = Object.fromEntries(new URLSearchParams(ctx.querystring));
  return { kind, place: placeOf({ after, before, around, last }), given };
}

interface Places {
  after: EventPosition | undefined;
  before: EventPosition | undefined;
  around: EventPosition | undefined;
  last: 'true' | undefined;
}

function placeOf({ after, before, around, last }: Places): TimelineRequest['place'] {
  if (around !== undefined) return { around };
  if (after !== undefined) return { after };
  if (before !== undefined) return { before };
  return last === undefined ? undefined : 'last';
}

/** The position of an event as an address holds it. */
export function positionText({ created_at, id }: StoredEvent): string {
  return `${created_at},${id}`;
}
