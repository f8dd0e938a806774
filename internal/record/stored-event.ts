import type { RecordedEvent } from '../event/event.ts';
import { optionalFields, type OptionalColumn, type RecordedTexts } from '../event/fields.ts';
import type { EventKind } from '../event/schema.ts';
import { sql } from '../store/sql.ts';

/** An event as readers see it: the answer that its caller got, its id, and when it happened. */
export interface StoredEvent extends RecordedEvent {
  id: string;
  /** In the form of `created_at`; null if the caller did not say. */
  occurred_at: string | null;
}

/** An event as exports have it: with what proves its texts (`internal/ledger/event-digest.ts`). */
export interface ProvenEvent extends StoredEvent {
  /** In hexadecimal digits; undefined without texts or without a log, and after an erasure. */
  salt?: string | undefined;
  /** In hexadecimal digits: what an erasure left of the texts. */
  texts_digest?: string | undefined;
}

/** Where a page of events ends. */
export interface EventPosition {
  createdAt: string;
  id: string;
}

/** A row of `events`, without its organization. */
export interface EventRow extends Record<OptionalColumn, string> {
  created_at: Date;
  id: string;
  automation_id: string;
  automation_as_sent: string | null;
  execution_id: string;
  kind: EventKind;
  occurred_at: Date | null;
  salt: Uint8Array | null;
  texts_digest: Uint8Array | null;
}

/** The columns of {@link EventRow}. */
export const eventColumnNames: readonly string[] = [
  'created_at',
  'id',
  'automation_id',
  'automation_as_sent',
  'execution_id',
  'kind',
  'occurred_at',
  'salt',
  'texts_digest',
  ...optionalFields.map(({ column }) => column),
];

/** The same as SQL. */
export const eventColumns = sql.raw(eventColumnNames.join(', '));

export function storedEventOf(row: EventRow): StoredEvent {
  const texts = Object.fromEntries(optionalFields.map(({ recorded, column }) => [recorded, row[column]]));
  return {
    id: row.id,
    automation: row.automation_as_sent ?? row.automation_id,
    execution_id: row.execution_id,
    type_of_event: row.kind,
    ...(texts as RecordedTexts),
    // Scripts that continue an export expect the time of acceptance at the end of a line.
    occurred_at: row.occurred_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  };
}

export function provenEventOf(row: EventRow): ProvenEvent {
  const { occurred_at, created_at, ...event } = storedEventOf(row);
  return { ...event, salt: hexOf(row.salt), texts_digest: hexOf(row.texts_digest), occurred_at, created_at };
}

/** An embedded Postgres gives bytes of another class. */
export function hexOf(bytes: Uint8Array | null): string | undefined {
  return bytes === null ? undefined : Buffer.from(bytes).toString('hex');
}

export function positionOfEvent(row: EventRow): EventPosition {
  return { createdAt: row.created_at.toISOString(), id: row.id };
}
