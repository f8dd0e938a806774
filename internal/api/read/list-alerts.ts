import type { AlertPosition } from '../../record/alert.ts';
import type { Endpoint } from './endpoint.ts';
import { list } from './list.ts';
import { oneOf, recordedTime, uuid } from './parameters.ts';
import type { ReadOptions } from './read-options.ts';

const filters = {
  automation_id: uuid,
  kind: oneOf(['missing', 'late', 'overrunning', 'failing', 'lost', 'unknown']),
  open: oneOf(['true', 'false']),
} as const;

/** `GET /v1/alerts/`: expectations that were not met, the one that opened last first. */
export function listAlerts({ record, publicUrl }: ReadOptions): Endpoint {
  return list<typeof filters, AlertPosition>({
    path: '/v1/alerts/',
    publicUrl,
    filters,
    place: { openedAt: recordedTime, id: uuid },
    read: ({ state: { organization } }, { automation_id, kind, open }, page) => {
      const isOpen = open === undefined ? undefined : open === 'true';
      return record.listAlerts(organization, { automationId: automation_id, kind, open: isOpen }, page);
    },
  });
}
