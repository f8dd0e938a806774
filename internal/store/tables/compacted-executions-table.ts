/**
 * The table `compacted_executions`: a block of an automation's old executions, in the order of
 * their first events, as arrays of equal length. Times are in ms, so that they are small.
 */
export interface CompactedExecutionsTable {
  organization: string;
  /** A random number: one of a sequence could be that of a block which moves here. */
  id: number;
  automation_id: string;
  /** The first events of its oldest and its newest execution. */
  oldest: Date;
  newest: Date;
  /** When the last event of all its executions occurred or was accepted. */
  last_at: Date;
  executions: number;
  /** How many of them have an ERROR, and how many an anomaly. */
  failures: number;
  anomalies: number;
  /** Execution ids that are UUIDs; null where `names` has the id. */
  ids: (string | null)[];
  names: (string | null)[] | null;
  /** After `oldest`. */
  first_after: number[];
  /** After the execution's first event. */
  last_after: number[];
  started_after: (number | null)[];
  failed_after: (number | null)[];
  /** Before the execution's last event. */
  ended_before: (number | null)[];
  /** After the execution's last event. */
  accepted_after: (number | null)[];
  start_counts: number[];
  event_counts: number[];
  warning_counts: number[];
  error_counts: number[];
  end_counts: number[];
}

/** The table `compacted_keys`: in which blocks an execution with this key of its id may be. */
export interface CompactedKeysTable {
  organization: string;
  key: number;
  block: number;
}
