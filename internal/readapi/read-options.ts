import type { Queries } from '../record/queries.ts';

/** What every read endpoint uses. */
export interface ReadOptions {
  record: Queries;
  /** The https address of links to next pages. */
  publicUrl: URL;
}
