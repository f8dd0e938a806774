import type { ColumnType } from 'kysely';

/**
 * What an owner does: mutes, ends a mute, acknowledges an alert, closes a run, or writes a note.
 */
export type ActKind = 'mute' | 'unmute' | 'acknowledge' | 'close' | 'note';

/** When a mute repeats: in a window after each time of a cron expression. */
export interface MuteWindow {
  schedule: string;
  timeZone: string;
  /** Such as `2h`. */
  duration: string;
}

/** The table `acts`: what owners do about alerts and executions. Rows are only added. */
export interface ActsTable {
  organization: string;
  /** Of the form or the request: what is sent twice happens once. */
  id: string;
  kind: ActKind;
  /** Null for a mute of the whole organization. */
  automation_id: string | null;
  execution_id: string | null;
  /** The alert that is acknowledged, or the mute that ends. */
  about: string | null;
  /** The reason, in the owner's words. */
  note: string;
  /** The window of a mute, or what became of a closed run. */
  details: ColumnType<{ window?: MuteWindow; as?: 'ended' | 'lost' }, string | undefined, never>;
  /** When a mute ends; null for a window that repeats until somebody ends it. */
  until_at: Date | null;
  made_by: string;
  made_at: ColumnType<Date, Date | undefined, never>;
  /** When a worker recorded it; null until then. */
  recorded_at: Date | null;
  /** With a log: proves that a console wrote it. */
  mac: Uint8Array | null;
  /** With a log: 16 random bytes for its note; null once that is erased. */
  salt: Uint8Array | null;
  /** What an erasure left of its note: its digest. */
  note_digest: Uint8Array | null;
}
