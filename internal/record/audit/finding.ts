import type { Act } from '../../ledger/act.ts';
import type { ColdObject } from '../../store/tables/cold-days-table.ts';

/** An erasure as reports name it. */
export interface ErasureNote {
  readonly at: Date;
  readonly by: string;
  readonly reason: string;
  readonly events: number;
}

/** A difference, in one sentence; `event` is the id of the event if it is about one. */
export interface Finding {
  readonly sentence: string;
  readonly event?: string;
  /** A worker explains it: it asks an operator for something, and accuses nobody. */
  readonly isExplained?: boolean;
}

/** A finished comparison. No finding: nothing was lost, added or changed. */
export interface AuditReport {
  readonly findings: readonly Finding[];
  /** A sentence for each part that could not be checked. */
  readonly problems: readonly string[];
  /** Leaves of the log, and events that were compared with them. */
  readonly leaves: number;
  readonly compared: number;
  /** Events whose leaves the newest checkpoint does not cover yet. */
  readonly waiting: number;
  /** Leaves of events that retention deleted, or that an export does not reach. */
  readonly absent: number;
  /** Events without a leaf: stored before the log began, or newer than a served log. */
  readonly uncovered: number;
  readonly firstUncovered?: string | undefined;
  /** Leaves without a checkpoint, of events that were accepted more than an hour ago. */
  readonly overdue: number;
  /** Leaves of events that came more than an hour after those of newer events. */
  readonly late: number;
  /** Events that erasures removed or took the texts of, and the erasures. */
  readonly erased: number;
  readonly erasures: readonly ErasureNote[];
  /** Checkpoints that match the log. */
  readonly checkpoints: number;
  /** The newest checkpoint of the log: a signed note. Undefined if there is none. */
  readonly checkpoint: string | undefined;
  /** Sentences about acts that explain what is proven. */
  readonly acts: readonly string[];
  /** The acts that the log has; undefined if nobody showed them. */
  readonly proven?: readonly Act[] | undefined;
  /** The objects with events that Postgres no longer has; undefined without Postgres. */
  readonly cold?: readonly ColdObject[] | undefined;
  /** When the oldest event of the log was accepted; undefined unless the database was read. */
  readonly since?: Date | undefined;
}

/**
 * Receives the progress so far: how many of all leaves were read, and how many events were
 * compared; `leaves` while no event is compared.
 */
export type OnProgress = (progress: { done: number; total: number; events: number; leaves?: number }) => void;

/** The check cannot be made: its input is missing, or is not a log. */
export class CannotCheck extends Error {
  override readonly name: string = 'CannotCheck';
}

/** A part of the log is not there: the console says so, or a folder has no checkpoint. */
export class NotServed extends CannotCheck {
  override readonly name = 'NotServed';
}
