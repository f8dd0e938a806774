/** Which part of a list to read. */
export interface PageRequest<Position> {
  /** Most items of the page. */
  limit: number;
  /** The position at which the page before ended; undefined for the first page. */
  after?: Position | undefined;
  /** Most bytes of the texts of its events. Default: the usual bound. */
  mostBytes?: number;
}

/**
 * A part of a list. A page of a search that used up its time may hold fewer items than its limit,
 * even none, and still have a `next`.
 */
export interface Page<Item, Position> {
  items: Item[];
  /** Where the next page begins; undefined at the end of the list. */
  next?: Position | undefined;
}
