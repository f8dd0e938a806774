import type { ErrorGroupPosition } from '../../record/error-group.ts';
import type { Endpoint } from './endpoint.ts';
import { commonFilters } from './filters.ts';
import { list } from './list.ts';
import { recordedTime, storableText, uuid } from './parameters.ts';
import type { ReadOptions } from './read-options.ts';
import { inWindow, windowOf, windowOrRange, windowPlace, type InWindow } from './window.ts';

const { automation_id, error_id } = commonFilters;
const filters = { automation_id, error_id, ...windowOrRange } as const;

/** `GET /v1/errors/`: ERROR events of the window by automation and `error_id`, last seen first. */
export function listErrors({ record, publicUrl }: ReadOptions): Endpoint {
  return list<typeof filters, InWindow<ErrorGroupPosition>>({
    path: '/v1/errors/',
    publicUrl,
    changesAlways: true,
    filters,
    place: { lastSeenAt: recordedTime, automationId: uuid, errorId: storableText(0, 1_048_576), ...windowPlace },
    read: async ({ state: { organization } }, values, page) => {
      const window = windowOf(values, page.after?.windowEnd);
      const groups = { automationId: values.automation_id, errorId: values.error_id, ...window };
      const { next, ...more } = await record.listErrors(organization, groups, page);
      return { ...more, next: inWindow(next, window) };
    },
  });
}
