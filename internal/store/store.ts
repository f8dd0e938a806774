import type { AcceptedEvent } from '../event/event.ts';
import type { Database } from './database.ts';
import { keepDeadLetter } from './dead-letters.ts';
import { isDataError } from './errors.ts';
import { maintain, type MaintenanceReport } from './maintain.ts';
import { recordEvents, type StoredBatch } from './record-events.ts';

export interface StoreOptions {
  /** Days after today whose partitions are made ahead, and days before it that are kept (0 keeps everything). */
  partitionsAhead: number;
  retentionDays: number;
}

/** The operations of the store on one database, as the worker uses them. */
export interface Store {
  recordEvents(events: readonly AcceptedEvent[]): Promise<StoredBatch>;
  keepDeadLetter(event: AcceptedEvent, reason: string): Promise<void>;
  isDataError(error: unknown): boolean;
  maintain(): Promise<MaintenanceReport>;
}

/** Binds the operations to a database. Opening and destroying it stays with the caller. */
export function createStore(db: Database, options: StoreOptions): Store {
  return {
    recordEvents: (events) => recordEvents(db, events),
    keepDeadLetter: (event, reason) => keepDeadLetter(db, event, reason),
    isDataError,
    maintain: () =>
      maintain(db, {
        now: Date.now(),
        daysAhead: options.partitionsAhead,
        retentionDays: options.retentionDays,
      }),
  };
}
