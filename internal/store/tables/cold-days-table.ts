import type { EventRow } from './events-table.ts';

/**
 * The table `cold_days`: the objects of the archive that hold an organization's events of a day
 * which Postgres no longer has. They are the day; events that came later are in `events` until a
 * further object has them.
 */
export interface ColdDaysTable {
  organization: string;
  /** The UTC day, as `2026-11-21`. */
  day: string;
  /** The name of the object in the folder of the day. */
  object: string;
  rows: number;
  /** SHA-256 of the object's manifest, in hexadecimal digits. */
  manifest_sha256: string;
}

/** An object with events that only the archive has. */
export interface ColdObject {
  readonly organization: string;
  /** Its midnight, in ms since the Unix epoch. */
  readonly day: number;
  readonly object: string;
  readonly rows: number;
  readonly manifestSha256: string;
}

/** The events to read of a cold object. Absent filters allow everything. */
export interface WantedEvents {
  readonly automationIds?: readonly string[] | undefined;
  readonly executionId?: string | undefined;
  /** Accepted from `from` until before `to`, in ms. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly kind?: EventRow['kind'] | undefined;
  /** Happened from `from` until before `to`, in ms. */
  readonly happened?: { readonly from: number; readonly to: number } | undefined;
  readonly matches?: ((event: EventRow) => boolean) | undefined;
}

/** When an event happened, in ms: as its caller said, or else when it was accepted. */
export function happenedAt({ occurred_at, created_at }: Pick<EventRow, 'occurred_at' | 'created_at'>): number {
  return (occurred_at ?? created_at).getTime();
}

/** Reads what only the archive has. */
export interface ColdArchive {
  /** The wanted events of an object, by automation, execution and time, a row group at a time. */
  read(object: ColdObject, wanted: WantedEvents): AsyncGenerator<EventRow[]>;
}
