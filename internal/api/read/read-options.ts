import type { Record as EventRecord } from '../../record/record.ts';

/** What every read endpoint uses. */
export interface ReadOptions {
  record: EventRecord;
  /** The https address of links to next pages. */
  publicUrl: URL;
}
