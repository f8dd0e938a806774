import type { ExecutionPosition } from '../../record/execution.ts';
import type { Endpoint } from './endpoint.ts';
import { commonFilters, commonFiltersOf, executionFilters } from './filters.ts';
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
    read: ({ state: { organization } }, { state, anomaly, has, ...common }, page) => {
      const warning = has === undefined ? undefined : true;
      return record.listExecutions(organization, { ...commonFiltersOf(common), state, anomaly, warning }, page);
    },
  });
}

const filters = { ...executionFilters, ...commonFilters } as const;
