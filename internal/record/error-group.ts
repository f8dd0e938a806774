import type { ArchivedSource } from './over-events.ts';
import type { Page } from './page.ts';

/** ERROR events of one automation with one `error_id`. */
export interface ErrorGroup {
  /** The automation's id in its canonical lower-case form. */
  automation: string;
  /** '' for errors without one. */
  error_id: string;
  count: number;
  /** When the first and the last of them happened. */
  first_seen_at: string;
  last_seen_at: string;
  /** The execution of the newest of these events. */
  latest_execution_id: string;
}

/** Where a page of groups ends; the group last seen comes first. */
export interface ErrorGroupPosition {
  lastSeenAt: string;
  automationId: string;
  /** SHA-256 of its `error_id`, which may be too long for a URL. */
  errorDigest: string;
}

/** Error groups of a window. If it holds too many errors, `from` is later than requested. */
export interface ErrorGroups extends Page<ErrorGroup, ErrorGroupPosition> {
  from: string;
  to: string;
  /** The objects that have errors of cold days. */
  archived?: ArchivedSource[];
}
