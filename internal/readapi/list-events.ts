import { eventKinds } from '../event/schema.ts';
import type { EventPosition } from '../record/stored-event.ts';
import { withNames } from './automation-names.ts';
import type { PlaceTable } from './cursor.ts';
import type { Endpoint } from './endpoint.ts';
import { namedFilters, namedFiltersOf } from './filters.ts';
import { list } from './list.ts';
import { oneOf, recordedTime, uuid } from './parameters.ts';
import type { ReadOptions } from './read-options.ts';

/** Where a page of events ends, in cursors. */
export const eventPlace: PlaceTable<EventPosition> = { createdAt: recordedTime, id: uuid };

/** The kind of an event, as a filter. */
export const kindFilter = { kind: oneOf(eventKinds) } as const;

const filters = { ...kindFilter, ...namedFilters } as const;

/** `GET /v1/events/`: events, newest first; with `execution_id`, oldest first. */
export function listEvents({ record, publicUrl }: ReadOptions): Endpoint {
  return list<typeof filters, EventPosition>({
    path: '/v1/events/',
    publicUrl,
    texts: true,
    filters,
    place: eventPlace,
    read: async ({ state: { organization } }, { kind, ...common }, page) => {
      const filters = { ...(await namedFiltersOf(record, organization, common)), kind };
      const events = await record.listEvents(organization, filters, page);
      return { ...events, items: await withNames(record, organization, events.items) };
    },
  });
}
