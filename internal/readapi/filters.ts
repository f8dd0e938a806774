import { anomalies } from '../event/outcome/stored-batch.ts';
import type { EventFilters } from '../record/filters.ts';
import { automationFilter, chosenAutomations } from './automation-names.ts';
import { oneOf, storableText, time, uuid } from './parameters.ts';
import { malformedQuery, type Values } from './query.ts';
import type { ReadOptions } from './read-options.ts';

/** The longest ids that ingest's settings allow, as far as an address can hold them. */
const executionId = storableText(1, 500);
const errorId = storableText(0, 2_000);

/** The time range of a list. */
export const rangeFilters = { from: time, to: time } as const;

/** The filters that lists of executions and of events share. */
export const commonFilters = {
  automation_id: uuid,
  execution_id: executionId,
  error_id: errorId,
  q: storableText(1, 200),
  ...rangeFilters,
} as const;

/** The further filters of executions. */
export const executionFilters = {
  state: oneOf(['running', 'succeeded', 'failed', 'lost']),
  anomaly: oneOf(anomalies),
  has: oneOf(['warning']),
} as const;

/** The common filters of lists that also take an automation by its name. */
export const namedFilters = { ...automationFilter, ...commonFilters } as const;

/** The common filters in the form that the record takes. */
export function commonFiltersOf(values: Values<typeof commonFilters>): Omit<EventFilters, 'kind'> {
  requireOrder(values);
  const { automation_id, execution_id, error_id, q, from, to } = values;
  return { automationId: automation_id, executionId: execution_id, errorId: error_id, q, from, to };
}

/**
 * The same, with the id of the automation.
 * @throws {RequestError} when the automation cannot be identified.
 */
export async function namedFiltersOf(
  record: ReadOptions['record'],
  organization: string,
  values: Values<typeof namedFilters>,
): Promise<Omit<EventFilters, 'kind'>> {
  const filters = commonFiltersOf(values);
  return { ...filters, ...(await chosenAutomations(record, organization, values)) };
}

/** @throws {RequestError} when `to` is not after `from`. */
export function requireOrder({ from, to }: Values<typeof rangeFilters>): void {
  if (from === undefined || to === undefined || from < to) return;
  throw malformedQuery([{ parameter: 'to', detail: 'must be after from' }]);
}
