import { Fault } from '../../readapi/fault.ts';
import { commonFilters, commonFiltersOf, executionFilters } from '../../readapi/filters.ts';
import { duration, time, uuid, wholeNumber, storableText, type Parameter } from '../../readapi/parameters.ts';
import { readQuery } from '../../readapi/query.ts';
import type { Context } from '../../intake/http/page-route.ts';
import type { ExecutionFilters } from '../../record/filters.ts';
import { searchAutomations } from '../names.ts';
import type { PageZone } from '../page-zone.ts';
import { stepsOf, windowNames } from '../windows.ts';
import type { Console, Visit } from '../visit.ts';

const fieldForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/;

/** A time as a browser's field writes it, in the zone of the page, or as the API writes it. */
const timeOrField =
  (zone: PageZone): Parameter<Date> =>
  (text) =>
    time(fieldForm.test(text) ? new Date(zone.momentOf(text)).toISOString() : text);

const tableIn = (zone: PageZone) =>
  ({
    ...executionFilters,
    ...commonFilters,
    automation_id: storableText(1, 200),
    from: timeOrField(zone),
    to: timeOrField(zone),
    window: duration('366d'),
    limit: wholeNumber(1, 500),
    cursor: storableText(1, 8_000),
  }) as const;

/** The query in the address of the list of executions. */
export interface ExecutionQuery {
  filters: ExecutionFilters;
  /** The filters in canonical form: ids and exact times, without `limit` and `cursor`. */
  given: Readonly<Record<string, string>>;
  /** False if the address has a name or a time in the page's zone, as a person typed it. */
  isCanonical: boolean;
  /** Set if the name matches several automations, of which the reader chooses one, or none. */
  choice: { text: string; found: { id: string; name: string }[] } | undefined;
  limit: number;
  cursor: string | undefined;
}

export const pageSize = 50;

/** @throws {RequestError} that names each faulty parameter. */
export async function readExecutionQuery(visit: Visit, console: Console): Promise<ExecutionQuery> {
  const { ctx, now, zone } = visit;
  const given = givenOf(ctx);
  const {
    state,
    anomaly,
    has,
    window,
    limit = pageSize,
    cursor,
    automation_id,
    ...common
  } = readQuery({ querystring: given.toString() }, tableIn(zone));
  const since = window === undefined ? {} : { from: beginOf(given.get('window') ?? '', window, now, zone) };
  const warning = has === undefined ? undefined : true;
  const before = given.toString();
  for (const name of ['from', 'to'] as const) {
    const value = common[name];
    if (value !== undefined && fieldForm.test(given.get(name) ?? '')) given.set(name, value.toISOString());
  }
  const { id, choice } = await automationOf(automation_id, visit, console);
  if (id !== undefined) given.set('automation_id', id);
  const filters = {
    ...commonFiltersOf({ ...since, ...common, ...(id !== undefined && { automation_id: id }) }),
    state,
    anomaly,
    warning,
  };
  const isCanonical = given.toString() === before;
  given.delete('limit');
  given.delete('cursor');
  return { filters, given: Object.fromEntries(given), isCanonical, choice, limit, cursor };
}

/** The start of a named window, the same as on every other page. */
function beginOf(name: string, ms: number, now: number, zone: PageZone): Date {
  const known = windowNames.find((each) => each === name);
  return known === undefined ? new Date(now - ms) : stepsOf(known, now, zone).from;
}

/** The automation with this id or name. */
async function automationOf(
  text: string | undefined,
  visit: Visit,
  console: Console,
): Promise<{ id?: string; choice?: ExecutionQuery['choice'] }> {
  if (text === undefined) return {};
  const id = uuid(text);
  if (!(id instanceof Fault)) return { id };
  const found = await searchAutomations(text, visit, console);
  const [only, ...others] = found;
  return only !== undefined && others.length === 0 ? { id: only.id } : { choice: { text, found } };
}

/**
 * The parameters of a request, without the empty ones that a form sends. An empty `error_id` stays:
 * it means errors without an id. The form calls that field `error`.
 */
export function givenOf(ctx: Pick<Context, 'querystring'>): URLSearchParams {
  const given = new URLSearchParams(ctx.querystring);
  for (const [name, value] of Array.from(given)) {
    if (value === '' && name !== 'error_id') given.delete(name, value);
  }
  const error = given.get('error');
  given.delete('error');
  if (error !== null) given.set('error_id', error);
  return given;
}
