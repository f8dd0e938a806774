import type { ExecutionState } from './execution-state.ts';

/** Anomalies in the order of events. None of them changes the outcome. */
export const anomalies = ['start_missing', 'start_repeated', 'start_late', 'event_after_end'] as const;
export type Anomaly = (typeof anomalies)[number];

/**
 * Executions that a batch moved from one state to another; `none` before the first event. The order
 * is that of storing: ERROR or END may be stored first.
 */
export interface Transition {
  organization: string;
  from: ExecutionState | 'none';
  to: ExecutionState;
  executions: number;
}

/** The result of storing a batch of events. */
export interface StoredBatch {
  /** Events inserted; the rest of the batch was already stored. */
  stored: number;
  transitions: Transition[];
  /**
   * Executions in which this batch reveals an order anomaly, by anomaly. `start_missing` is counted
   * at the first END, when START is almost always stored. The execution's flags are exact.
   */
  anomalies: Readonly<Record<Anomaly, number>>;
}
