import type { AlertPosition } from '../record/alert.ts';
import { automationFilter, chosenAutomations, withNames } from './automation-names.ts';
import type { Endpoint } from './endpoint.ts';
import { list } from './list.ts';
import { oneOf, recordedTime, uuid } from './parameters.ts';
import type { ReadOptions } from './read-options.ts';

const filters = {
  ...automationFilter,
  kind: oneOf(['missing', 'late', 'overrunning', 'failing', 'lost', 'unknown']),
  open: oneOf(['true', 'false']),
} as const;

/** `GET /v1/alerts/`: expectations that were not met, last opened first. */
export function listAlerts({ record, publicUrl }: ReadOptions): Endpoint {
  return list<typeof filters, AlertPosition>({
    path: '/v1/alerts/',
    publicUrl,
    filters,
    place: { openedAt: recordedTime, id: uuid },
    read: async ({ state: { organization } }, { kind, open, ...asked }, page) => {
      const isOpen = open === undefined ? undefined : open === 'true';
      const chosen = await chosenAutomations(record, organization, asked);
      const { items, next } = await record.listAlerts(organization, { ...chosen, kind, open: isOpen }, page);
      return { items: await withNames(record, organization, items), next };
    },
  });
}
