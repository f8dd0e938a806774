import type { AcceptedEvent } from '../event/event.ts';
import type { ExecutionState } from '../outcome/outcome.ts';

/** Executions that a batch moved from one state to another; `none` is the state of one not seen before. */
export interface Transition {
  organization: string;
  from: ExecutionState | 'none';
  to: ExecutionState;
  executions: number;
}

/** What one statement did. */
export interface StoredBatch {
  /** Events inserted; the rest of the batch was there already. */
  stored: number;
  transitions: Transition[];
  /** Executions whose events broke the order, by anomaly. */
  anomalies: Readonly<Record<string, number>>;
}

/** What the worker needs of the store. */
export interface EventStore {
  /** Inserts the events that are new and moves the outcomes of their executions, atomically. Safe to repeat. */
  recordEvents(events: readonly AcceptedEvent[]): Promise<StoredBatch>;
  /** Keeps an event that Postgres refuses, with the reason. Safe to repeat. */
  keepDeadLetter(event: AcceptedEvent, reason: string): Promise<void>;
  /** True for errors that the data causes: repeating the statement cannot help. */
  isDataError(error: unknown): boolean;
}
