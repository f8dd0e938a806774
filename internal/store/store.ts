import type { AcceptedEvent } from '../event/event.ts';
import type { MacKey } from '../ledger/mac.ts';
import type { MaintenanceReport, PartitionFigures, RunningExecutions } from '../event/outcome/maintenance-report.ts';
import type { StoredBatch } from '../event/outcome/stored-batch.ts';
import { readClock } from './clock.ts';
import type { CompactionProgress } from './compacted/compact.ts';
import { countRunning } from './count-running.ts';
import type { Database } from './database.ts';
import { keepDeadLetter } from './dead-letters.ts';
import { isDataError } from './errors.ts';
import { ArchiveSilent } from './insert-unless-archived.ts';
import { deleteExpiredSessions } from './partitions/expired-sessions.ts';
import { maintain } from './partitions/maintain.ts';
import { measurePartitions } from './measure.ts';
import { ping } from './reachable.ts';
import { recordEvents } from './record-events.ts';
import type { FindArchived } from './partitions/archived.ts';

const hourMs = 60 * 60 * 1_000;

/** A worker drops nothing if its clock differs from that of Postgres by more than this, in ms. */
const clocksDifferMs = 60_000;

export interface StoreOptions {
  /**
   * Days after today that get a partition, and days before today that are kept (0 keeps
   * everything).
   */
  partitionsAhead: number;
  retentionDays: number;
  /** Days before today whose events stay in Postgres; 0 keeps them as long as executions. */
  hotDays?: number;
  /** Retention drops only what the archive holds. Absent without an archive. */
  findArchived?: FindArchived | undefined;
  /** If given, each stored event and dead letter gets a leaf in the log. */
  macKey?: MacKey | undefined;
  /** Called after each statement with how many of its events were new, and how many it had. */
  onStored?: (stored: number, events: number) => void;
  /** Age at which a running execution is overdue. */
  overdueAfterHours: number;
}

/** The operations of the store on one database, as the worker uses them. */
export interface Store {
  recordEvents(events: readonly AcceptedEvent[]): Promise<StoredBatch>;
  keepDeadLetter(event: AcceptedEvent, reason: string): Promise<boolean>;
  isDataError(error: unknown): boolean;
  waitingForArchive(error: unknown): ((event: AcceptedEvent) => boolean) | undefined;
  ping(): Promise<void>;
  maintain(): Promise<MaintenanceReport>;
  /** Only reads. */
  measure(): Promise<PartitionFigures & RunningExecutions>;
}

/** Binds the operations to a database. The caller opens and destroys it. */
export function createStore(db: Database, options: StoreOptions): Store {
  const {
    partitionsAhead: daysAhead,
    retentionDays,
    hotDays = 0,
    findArchived,
    overdueAfterHours,
    macKey,
    onStored,
  } = options;
  let compacted: CompactionProgress | undefined;
  return {
    recordEvents: async (events) => {
      const batch = await recordEvents(db, events, { macKey });
      onStored?.(batch.stored, events.length);
      return batch;
    },
    keepDeadLetter: (event, reason) => keepDeadLetter(db, event, reason, macKey),
    isDataError,
    waitingForArchive: (error) => (error instanceof ArchiveSilent ? (event) => error.concerns(event) : undefined),
    ping: () => ping(db),
    maintain: async () => {
      const { now, ahead } = await readClock(db);
      // One of the two clocks is wrong, and a person must say which.
      const differs = Math.abs(ahead) > clocksDifferMs;
      const { compactedTo, ...report } = await maintain(db, {
        compacted,
        now,
        daysAhead,
        retentionDays: differs ? 0 : retentionDays,
        hotDays: differs ? 0 : hotDays,
        findArchived,
        macKey,
      });
      compacted = compactedTo ?? compacted;
      await deleteExpiredSessions(db);
      return { ...report, clockAheadMs: ahead, ...(differs && retentionDays + hotDays > 0 && { clocksDiffer: true }) };
    },
    measure: async () => {
      const { now } = await readClock(db);
      const partitions = await measurePartitions(db, { now, daysAhead });
      return { ...partitions, ...(await countRunning(db, now - overdueAfterHours * hourMs)) };
    },
  };
}
