import { commonFilters, commonFiltersOf, executionFilters } from '../../api/read/filters.ts';
import { duration, time, wholeNumber, storableText, type Parameter } from '../../api/read/parameters.ts';
import { readQuery, type Values } from '../../api/read/query.ts';
import type { Context } from '../../api/page-route.ts';
import type { ExecutionFilters } from '../../record/filters.ts';

/** A time as a browser's field has it (in UTC), or as the API has it. */
const timeOrField: Parameter<Date> = (text) => time(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? `${text}:00Z` : text);

const table = {
  ...executionFilters,
  ...commonFilters,
  from: timeOrField,
  to: timeOrField,
  window: duration('366d'),
  limit: wholeNumber(1, 500),
  cursor: storableText(1, 8_000),
} as const;

/** What the address of the list of executions says. */
export interface ExecutionQuery {
  filters: ExecutionFilters;
  /** The filters as the address has them, without empty ones, `limit` and `cursor`. */
  given: Readonly<Record<string, string>>;
  limit: number;
  cursor: string | undefined;
}

export const pageSize = 50;

/** @throws {RequestError} that names each parameter with a fault. */
export function readExecutionQuery(ctx: Context, now: number): ExecutionQuery {
  const given = givenOf(ctx);
  const values: Values<typeof table> = readQuery({ querystring: given.toString() }, table);
  const { state, anomaly, has, window, limit = pageSize, cursor, ...common } = values;
  const since = window === undefined ? {} : { from: new Date(now - window) };
  const warning = has === undefined ? undefined : true;
  const filters = { ...commonFiltersOf({ ...since, ...common }), state, anomaly, warning };
  given.delete('limit');
  given.delete('cursor');
  return { filters, given: Object.fromEntries(given), limit, cursor };
}

/** The parameters of a request. A form sends empty ones for fields without a value. */
export function givenOf(ctx: Pick<Context, 'querystring'>): URLSearchParams {
  const given = new URLSearchParams(ctx.querystring);
  for (const [name, value] of Array.from(given)) if (value === '') given.delete(name, value);
  return given;
}
