import type { Context } from 'koa';
import type { Page, PageRequest } from '../record/page.ts';
import { answerJson } from './answer-json.ts';
import { decodeCursor, encodeCursor, type CursorScope, type PlaceTable } from './cursor.ts';
import type { Answer, Endpoint } from './endpoint.ts';
import { storableText, wholeNumber } from './parameters.ts';
import { malformedQuery, readQuery, type ParameterTable, type Values } from './query.ts';

/** The parameters of every list, besides its filters. */
const pageParameters = { limit: wholeNumber(1, 500), cursor: storableText(1, 8_000) } as const;

const defaultLimit = 50;

export interface ListOptions<Filters extends ParameterTable, Place extends object> {
  path: string;
  /** The https address of links to next pages. */
  publicUrl: URL;
  scopes?: Endpoint['scopes'];
  /** True if an answer contains the time of its request. */
  changesAlways?: true;
  /** True if its items have texts of events. */
  texts?: true;
  filters: Filters;
  place: PlaceTable<Place>;
  /** Reads a page. The answer also has the page's fields other than `items` and `next`. */
  read: (
    ctx: Parameters<Answer>[0],
    filters: Values<Filters>,
    page: PageRequest<Place>,
  ) => Promise<Page<unknown, Place>>;
}

/**
 * An endpoint that answers with a page of a list, its `next_cursor`, and `Link: rel="next"`. A
 * cursor is valid only with its original filters; `limit` may change.
 */
export function list<Filters extends ParameterTable, Place extends object>(
  options: ListOptions<Filters, Place>,
): Endpoint {
  const { path, publicUrl, place, read } = options;
  const table = { ...options.filters, ...pageParameters };
  const answer: Answer = async (ctx) => {
    const values = readQuery(ctx, table) as Values<Filters> & Values<typeof pageParameters>;
    const scope = {
      endpoint: ctx.path.replace(/\/$/, ''),
      organization: ctx.state.organization,
      filters: filtersOf(ctx),
    };
    const after = values.cursor === undefined ? undefined : placeOf(values.cursor, place, scope);
    const { items, next, ...more } = await read(ctx, values, { limit: values.limit ?? defaultLimit, after });
    const cursor = next === undefined ? null : encodeCursor(next, scope);
    if (cursor !== null) ctx.set('Link', `<${nextAddress(ctx, publicUrl, cursor)}>; rel="next"`);
    answerJson(ctx, { items, next_cursor: cursor, ...more }, options);
  };
  return { path, answer, ...(options.scopes && { scopes: options.scopes }), ...(options.texts && { texts: true }) };
}

/** @throws {RequestError} when the cursor does not belong to the scope. */
export function placeOf<Place extends object>(cursor: string, table: PlaceTable<Place>, scope: CursorScope): Place {
  const place = decodeCursor(cursor, table, scope);
  if (place !== undefined) return place;
  const detail = 'is not a cursor of this list: take next_cursor of an answer to the same parameters';
  throw malformedQuery([{ parameter: 'cursor', detail }]);
}

/** The filters of a request in one text, whatever their order. */
function filtersOf(ctx: Context): string {
  const given = new URLSearchParams(ctx.querystring);
  for (const name of Object.keys(pageParameters)) given.delete(name);
  given.sort();
  return given.toString();
}

function nextAddress(ctx: Context, publicUrl: URL, cursor: string): string {
  const address = new URL(publicUrl);
  address.pathname = publicUrl.pathname.replace(/\/$/, '') + ctx.path;
  const parameters = new URLSearchParams(ctx.querystring);
  parameters.set('cursor', cursor);
  address.search = parameters.toString();
  return address.href;
}
