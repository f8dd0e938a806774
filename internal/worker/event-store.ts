import type { AcceptedEvent } from '../event/event.ts';
import type { StoredBatch } from '../event/outcome/stored-batch.ts';

/** The operations of the store that the worker needs. */
export interface EventStore {
  /** Inserts the new events and moves the outcomes of their executions, atomically. Safe twice. */
  recordEvents(events: readonly AcceptedEvent[]): Promise<StoredBatch>;
  /** Stores a rejected event with the reason. Resolves with true when it is new. Safe twice. */
  keepDeadLetter(event: AcceptedEvent, reason: string): Promise<boolean>;
  /** True for errors in the data: a retry cannot help. */
  isDataError(error: unknown): boolean;
}
