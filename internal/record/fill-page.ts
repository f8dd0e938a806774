import type { Page, PageRequest } from './page.ts';

/** Rows of the second slice of a search; each next one is twice as large, up to a bound. */
const [secondSlice, largestSlice] = [500, 4_000];

/** A part of a search: the matching rows of the next rows in order. */
export interface Slice<Row, Position> {
  matches: Row[];
  /** Where the search continues; undefined at the end. */
  next?: Position | undefined;
}

interface FillOptions<Row, Item, Position> {
  page: PageRequest<Position>;
  /** Time after which the page ends with what it has, in ms. */
  searchMs: number;
  readSlice: (after: Position | undefined, size: number) => Promise<Slice<Row, Position>>;
  itemOf: (row: Row) => Item;
  positionOf: (row: Row) => Position;
}

/**
 * Reads slices until the page is full, the list ends or the time is used up. The first slice has
 * the size of the page: without a search it is enough.
 */
export async function fillPage<Row, Item, Position>(
  options: FillOptions<Row, Item, Position>,
): Promise<Page<Item, Position>> {
  const { page, itemOf, positionOf, readSlice } = options;
  const deadline = performance.now() + options.searchMs;
  const rows: Row[] = [];
  let next = page.after;
  let size = page.limit + 1;
  do {
    const slice = await readSlice(next, size);
    rows.push(...slice.matches);
    next = slice.next;
    size = Math.min(Math.max(secondSlice, size * 2), largestSlice);
  } while (next !== undefined && rows.length <= page.limit && performance.now() < deadline);
  const items = rows.slice(0, page.limit);
  const last = items.at(-1);
  const more = rows.length > items.length && last !== undefined;
  return { items: items.map(itemOf), next: more ? positionOf(last) : next };
}
