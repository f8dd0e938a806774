import type { ExecutionState } from './outcome.ts';

/** Anomalies of the order of events. None of them changes an outcome. */
export const anomalies = ['start_missing', 'start_repeated', 'start_late', 'event_after_end'] as const;
export type Anomaly = (typeof anomalies)[number];

/** Executions that a batch moved from one state to another; `none` is the state of one not seen before. */
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
  /** Executions whose events of this batch broke the order, by anomaly. */
  anomalies: Readonly<Record<Anomaly, number>>;
}
