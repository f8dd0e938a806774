import type { AcceptedEvent } from '../event/event.ts';
import type { StoredBatch } from '../event/outcome/stored-batch.ts';

/** The store operations that the worker needs. */
export interface EventStore {
  /** Inserts the new events and updates their executions' outcomes, atomically. Idempotent. */
  recordEvents(events: readonly AcceptedEvent[]): Promise<StoredBatch>;
  /** Stores a rejected event with the reason. Resolves with true if it is new. Idempotent. */
  keepDeadLetter(event: AcceptedEvent, reason: string): Promise<boolean>;
  /** True for errors in the data, which a retry cannot fix. */
  isDataError(error: unknown): boolean;
  /** Which events of a batch wait for the archive, if it was refused with this error for them. */
  waitingForArchive(error: unknown): ((event: AcceptedEvent) => boolean) | undefined;
}
