import type { Page, PageRequest } from './page.ts';
import { mostBytes } from './page-bytes.ts';
import { BudgetUsedUp, type ReadBudget } from './read-budget.ts';

/** Rows of the second slice of a search; each later one is twice as large, up to the bound. */
const [secondSlice, largestSlice] = [500, 4_000];

/** How long a search may take, and the budget that all searches share. */
export interface SearchOptions {
  /** Time after which a page ends with what it has, in ms. */
  searchMs: number;
  budget: ReadBudget;
}

/** A part of a search: the matching rows of the next rows in order. */
export interface Slice<Row, Position> {
  matches: Row[];
  /** Where the search continues; undefined at the end. */
  next?: Position | undefined;
}

interface FillOptions<Row, Item, Position> extends SearchOptions {
  page: PageRequest<Position>;
  /**
   * Reads a slice of `size` rows in its own transaction, so that no connection waits for the
   * budget. It may omit matches after the first `needed`, and ends once its texts and the `bytes`
   * of earlier slices fill the page.
   */
  readSlice: (
    after: Position | undefined,
    size: number,
    needed: number,
    bytes: number,
  ) => Promise<Slice<Row, Position>>;
  /** About how many rows yield a match: the first slice has as many for each item. */
  rowsPerMatch: number;
  /** What a row of a slice costs the budget, in rows. */
  rowCost: number;
  itemOf: (row: Row) => Item;
  positionOf: (row: Row) => Position;
  /** The page ends after the slice in which it has this many bytes. */
  bytesOf?: (matches: Row[]) => number;
}

/**
 * Reads slices until the page is full, the list ends or the time is used up. The first slice
 * suffices for most lists. The rest is charged to the budget.
 */
export async function fillPage<Row, Item, Position>(
  options: FillOptions<Row, Item, Position>,
): Promise<Page<Item, Position>> {
  const { page, itemOf, positionOf, readSlice, rowsPerMatch, rowCost, bytesOf, searchMs, budget } = options;
  const begun = performance.now();
  const elapsed = (): number => performance.now() - begun;
  const rows: Row[] = [];
  let next = page.after;
  let size = Math.min((page.limit + 1) * rowsPerMatch, largestSlice);
  let isFirst = true;
  let bytes = 0;
  do {
    const [after, rowsOfSlice, needed, before] = [next, size, page.limit + 1 - rows.length, bytes];
    const read = (): Promise<Slice<Row, Position>> => readSlice(after, rowsOfSlice, needed, before);
    const cost = { rows: size * rowCost, withinMs: searchMs - elapsed() };
    const slice = await (isFirst ? read() : budget.run(read, cost).catch(unlessUsedUp));
    if (slice === undefined) break;
    isFirst = false;
    rows.push(...slice.matches);
    bytes += bytesOf?.(slice.matches) ?? 0;
    next = slice.next;
    size = Math.min(Math.max(secondSlice, size * 2), largestSlice);
  } while (
    next !== undefined &&
    rows.length <= page.limit &&
    bytes < (page.mostBytes ?? mostBytes) &&
    elapsed() < searchMs
  );
  const items = rows.slice(0, page.limit);
  const last = items.at(-1);
  const more = rows.length > items.length && last !== undefined;
  return { items: items.map(itemOf), next: more ? positionOf(last) : next };
}

function unlessUsedUp(error: unknown): undefined {
  if (!(error instanceof BudgetUsedUp)) throw error;
}
