/** The changes of one maintenance run. */
export interface MaintenanceReport {
  /** Names of the tables of created and dropped partitions. */
  created: string[];
  dropped: string[];
  /** Events moved from the DEFAULT partition to the partition of their day. */
  moved: number;
  /** Partitions past retention that stay until the archive holds them; absent if there is none. */
  waiting?: WaitingPartitions;
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
