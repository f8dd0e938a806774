import type { Selectable } from 'kysely';
import type { OptionalColumn } from '../../event/fields.ts';
import type { EventKind } from '../../event/schema.ts';

/** The table `events`: one row per accepted event, partitioned by the day of `created_at`. */
export interface EventsTable extends Record<OptionalColumn, string> {
  organization: string;
  created_at: Date;
  id: string;
  automation_id: string;
  /** `automation_id` as the caller wrote it, if that differs from its canonical lower-case form. */
  automation_as_sent: string | null;
  execution_id: string;
  kind: EventKind;
  /** When it happened, if the caller said so. */
  occurred_at: Date | null;
  /** 16 random bytes for its texts; null if it has none. */
  salt: Uint8Array | null;
  /** What an erasure left of its texts: their digest. */
  texts_digest: Uint8Array | null;
}

/** A row of the table. */
export type EventRow = Selectable<EventsTable>;
