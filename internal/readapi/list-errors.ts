import type { ErrorGroupPosition } from '../record/error-group.ts';
import { automationFilter, chosenAutomations, withNames } from './automation-names.ts';
import type { PlaceTable } from './cursor.ts';
import type { Endpoint } from './endpoint.ts';
import { commonFilters } from './filters.ts';
import { list } from './list.ts';
import { recordedTime, sha256, uuid } from './parameters.ts';
import type { ReadOptions } from './read-options.ts';
import { inWindow, windowOf, windowOrRange, windowPlace, type InWindow } from './window.ts';

const { error_id } = commonFilters;
/** The place of a group, in cursors. */
export const errorGroupPlace: PlaceTable<ErrorGroupPosition> = {
  lastSeenAt: recordedTime,
  automationId: uuid,
  errorDigest: sha256,
};
const filters = { ...automationFilter, error_id, ...windowOrRange } as const;

/** `GET /v1/errors/`: ERROR events that happened in the window, by automation and `error_id`. */
export function listErrors({ record, publicUrl }: ReadOptions): Endpoint {
  return list<typeof filters, InWindow<ErrorGroupPosition>>({
    path: '/v1/errors/',
    publicUrl,
    changesAlways: true,
    filters,
    place: { ...errorGroupPlace, ...windowPlace },
    read: async ({ state: { organization } }, values, page) => {
      const window = windowOf(values, page.after?.windowEnd);
      const chosen = await chosenAutomations(record, organization, values);
      const groups = { ...chosen, errorId: values.error_id, ...window };
      const { items, next, ...more } = await record.listErrors(organization, groups, page);
      return { items: await withNames(record, organization, items), ...more, next: inWindow(next, window) };
    },
  });
}
