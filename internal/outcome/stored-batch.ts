import type { ExecutionState } from './execution-state.ts';

/** Anomalies of the order of events. None of them changes an outcome. */
export const anomalies = ['start_missing', 'start_repeated', 'start_late', 'event_after_end'] as const;
export type Anomaly = (typeof anomalies)[number];

/**
 * Executions that a batch moved from one state to another; `none` is the state of one not seen before. States follow one
 * another as batches are stored: of ERROR and END of one execution, either may be stored first.
 */
export interface Transition {
  organization: string;
  from: ExecutionState | 'none';
  to: ExecutionState;
  executions: number;
}

/** What storing a batch of events did. */
export interface StoredBatch {
  /** Events inserted; the rest of the batch was there already. */
  stored: number;
  transitions: Transition[];
  /**
   * Executions that events of this batch show to break the order, by anomaly. Several workers may store events of an
   * execution in another order than they came. So a missing START is told of with the first END: a caller has waited for an
   * answer in between, mostly for several, and START is nearly always stored by then. The flags of the execution are exact.
   */
  anomalies: Readonly<Record<Anomaly, number>>;
}
