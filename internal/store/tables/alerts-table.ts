import type { ColumnType } from 'kysely';

/** The table `alerts`: one row for each time that an expectation was not met. */
export interface AlertsTable {
  id: string;
  organization: string;
  automation_id: string;
  kind: 'missing' | 'late' | 'overrunning' | 'failing' | 'lost' | 'unknown';
  /** The expected time, the execution, or `failing`. */
  occurrence: string;
  reason: string;
  facts: ColumnType<Record<string, unknown>, string, string>;
  opened_at: Date;
  /** The watermark of the tick that wrote the row. */
  seen_at: Date;
  /** Null while it is open. Once set, the row never changes. */
  resolved_at: Date | null;
  resolved_reason: string | null;
  /** What people declared about the automation when it opened. */
  declared: ColumnType<unknown, string | null | undefined, string>;
  /** The channels that were notified when it opened, as `[namespace, name]`; null for none. */
  told_channels: ColumnType<[string, string][] | null, string | null | undefined, string>;
  /** What a mute has kept back; null for nothing. */
  kept_back: 'opened' | 'resolved' | null;
}

/** The table `alert_notices`: which receiver was notified of which alert, and when. */
export interface AlertNoticesTable {
  alert_id: string;
  receiver: string;
  organization: string;
  first_told_at: Date | null;
  resolved_told_at: Date | null;
  last_error: string | null;
  /** The label sets under which it may know the alert as open; written as JSON. */
  known_as: ColumnType<Record<string, string>[], string | undefined, string>;
}
