/** The changes of one maintenance run. */
export interface MaintenanceReport {
  /** Names of the tables of created and dropped partitions. */
  created: string[];
  dropped: string[];
  /** Events moved from the DEFAULT partition to the partition of their day. */
  moved: number;
  /** Partitions past retention that stay until the archive holds them; absent if there is none. */
  waiting?: WaitingPartitions;
  /** Present if retention would drop more partitions than it may without being asked. */
  asks?: AskedPartitions;
  /** How far the clock of the worker is ahead of that of Postgres, in ms; negative if behind. */
  clockAheadMs: number;
  /** True if retention dropped nothing because the two clocks differ. */
  clocksDiffer?: true;
}

/** Retention drops these partitions once a person has approved it. */
export interface AskedPartitions {
  partitions: number;
  /** The first day that stays, as in `2026-11-21`. */
  before: string;
}

/** Retention waits for the archive. */
export interface WaitingPartitions {
  partitions: number;
  /** What the archive lacks of the oldest one. */
  reason: string;
}

/** The state of the partitions. */
export interface PartitionFigures {
  /** Consecutive days from today that have a partition. */
  daysAhead: number;
  /** Events in the DEFAULT partition. */
  defaultRows: number;
}

/** Running executions, and those among them that are overdue. */
export interface RunningExecutions {
  running: number;
  overdue: number;
}
