import type { AcceptedEvent } from '../event/event.ts';
import type { StoredBatch } from '../outcome/stored-batch.ts';

/** What the worker needs of the store. */
export interface EventStore {
  /**
   * Inserts the events that are new and moves the outcomes of their executions, atomically. Safe to
   * repeat.
   */
  recordEvents(events: readonly AcceptedEvent[]): Promise<StoredBatch>;
  /**
   * Keeps an event that Postgres refuses, with the reason. Resolves with true when it was not kept
   * before. Safe to repeat.
   */
  keepDeadLetter(event: AcceptedEvent, reason: string): Promise<boolean>;
  /** True for errors that the data causes: repeating the statement cannot help. */
  isDataError(error: unknown): boolean;
}
