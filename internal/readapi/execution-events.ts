import type { EventPosition } from '../record/stored-event.ts';
import { withNames } from './automation-names.ts';
import type { Endpoint } from './endpoint.ts';
import { noExecution } from './get-execution.ts';
import { list } from './list.ts';
import { eventPlace, kindFilter } from './list-events.ts';
import { readPath } from './path.ts';
import type { ReadOptions } from './read-options.ts';

/** `GET /v1/executions/{automation_id}/{execution_id}/events/`: its events, oldest first. */
export function executionEvents({ record, publicUrl }: ReadOptions): Endpoint {
  return list<typeof kindFilter, EventPosition>({
    path: '/v1/executions/{automation_id}/{execution_id}/events/',
    publicUrl,
    texts: true,
    filters: kindFilter,
    place: eventPlace,
    read: async (ctx, { kind }, page) => {
      const { organization } = ctx.state;
      const { automation_id, execution_id } = readPath(ctx, 'automation_id', 'execution_id');
      const filters = { automationId: automation_id, executionId: execution_id, kind };
      const events = await record.listEvents(organization, filters, page);
      const unknown =
        events.items.length === 0 && !(await record.getExecution(organization, automation_id, execution_id));
      if (unknown) throw noExecution();
      return { ...events, items: await withNames(record, organization, events.items) };
    },
  });
}
