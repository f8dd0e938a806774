import type { ExecutionPosition } from '../record/execution.ts';
import { withNames } from './automation-names.ts';
import type { Endpoint } from './endpoint.ts';
import { namedFilters, namedFiltersOf, executionFilters } from './filters.ts';
import { list } from './list.ts';
import { recordedTime, storableText, uuid } from './parameters.ts';
import type { ReadOptions } from './read-options.ts';

/** `GET /v1/executions/`: executions, newest first. */
export function listExecutions({ record, publicUrl }: ReadOptions): Endpoint {
  return list<typeof filters, ExecutionPosition>({
    path: '/v1/executions/',
    publicUrl,
    filters,
    place: { firstEventAt: recordedTime, automationId: uuid, executionId: storableText(1, 1_000) },
    read: async ({ state: { organization } }, { state, anomaly, has, ...common }, page) => {
      const warning = has === undefined ? undefined : true;
      const filters = { ...(await namedFiltersOf(record, organization, common)), state, anomaly, warning };
      const executions = await record.listExecutions(organization, filters, page);
      return { ...executions, items: await withNames(record, organization, executions.items) };
    },
  });
}

const filters = { ...executionFilters, ...namedFilters } as const;
