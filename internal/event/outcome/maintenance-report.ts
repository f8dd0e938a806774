/** The changes of one maintenance run. */
export interface MaintenanceReport {
  /** The tables of created and dropped partitions. */
  created: string[];
  dropped: string[];
  /** The tables of partitions whose events only the archive has from now on. */
  cooled?: string[];
  /** Executions that share rows from now on. */
  compacted?: number;
  /** True if more executions can share rows: the next run goes on, soon. */
  compactsOn?: true;
  /** Events moved from the DEFAULT partition to the partition of their day. */
  moved: number;
  /** True if rows in DEFAULT and retention wait for the end of a move. */
  waitsForMove?: true;
  /** Partitions that stay until the archive holds them; absent if there are none. */
  waiting?: WaitingPartitions;
  /** Present if retention would drop more partitions than it may without approval. */
  asks?: AskedPartitions;
  /** How far the worker's clock is ahead of Postgres', in ms; negative if behind. */
  clockAheadMs: number;
  /** True if retention dropped nothing because the two clocks differ. */
  clocksDiffer?: true;
}

/** Partitions that retention drops once a person has approved it. */
export interface AskedPartitions {
  partitions: number;
  /** The first day that is kept, as in `2026-11-21`. */
  before: string;
}

/** Retention waits for the archive. */
export interface WaitingPartitions {
  partitions: number;
  /** What the archive lacks of the oldest partition. */
  reason: string;
}

/** The state of the partitions. */
export interface PartitionFigures {
  /** Consecutive days, from today on, that have a partition. */
  daysAhead: number;
  /** Events in the DEFAULT partition. */
  defaultRows: number;
}

/** Running executions, and those among them that are overdue. */
export interface RunningExecutions {
  running: number;
  overdue: number;
}
