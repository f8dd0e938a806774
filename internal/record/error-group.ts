import type { Page } from './page.ts';

/** ERROR events of one automation with one `error_id`. */
export interface ErrorGroup {
  /** The automation's id in its canonical lower-case form. */
  automation: string;
  /** '' for errors without one. */
  error_id: string;
  count: number;
  first_seen_at: string;
  last_seen_at: string;
  /** The execution of the newest of these events. */
  latest_execution_id: string;
}

/** Where a page of groups ends: the group that was seen last comes first. */
export interface ErrorGroupPosition {
  lastSeenAt: string;
  automationId: string;
  errorId: string;
}

/** Error groups of a window. If it holds too many errors, `from` is later than asked. */
export interface ErrorGroups extends Page<ErrorGroup, ErrorGroupPosition> {
  from: string;
  to: string;
}
