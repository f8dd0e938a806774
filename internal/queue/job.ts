import type { AcceptedEvent } from '../event/event.ts';
import { firstFields, optionalFields, optionalTexts, textsOf } from '../event/fields.ts';

/**
 * The data of a job: a batch of events. It is a JSON array of rows, one an event, either plain
 * (`rows`) or compressed with zstd (`zstd`, base64). Readers understand every version that was
 * written since the last major release, so that pods of two releases can share a queue. Version 2
 * has the time at which each event occurred. Only a batch with such a time is written in it: an
 * earlier release keeps that job for a newer worker, and cannot lose the time. `digests` are those
 * of the events, 43 characters each; an earlier release ignores them. If another digest is
 * made one day, it needs another name here.
 */
export type JobData = ({ v: 1; rows: Row[] } | { v: 2; rows: TimedRow[] } | { v: 1 | 2; zstd: string }) & {
  digests?: string;
};

/** The texts follow the table of fields. A release that knows more fields writes more of them. */
export type Row = [
  id: string,
  createdAt: number,
  organization: string,
  automationId: string,
  executionId: string,
  kind: AcceptedEvent['kind'],
  ...texts: string[],
];

/** A row of version 2. The first value is `occurredAt`, in ms; null if the caller did not say. */
export type TimedRow = [occurredAt: number | null, ...Row];

/** Values before the texts. */
const fixedValues = 6;

/** This release cannot read the data of a job: a newer release wrote it, or it is damaged. */
export class UnreadableJob extends Error {
  override readonly name = 'UnreadableJob';
}

/** The last millisecond of the year 9999: the latest time whose year has four digits. */
const latest = 253_402_300_799_999;

/**
 * True for a row with the store's types. The store keeps values that Postgres rejects as dead
 * letters.
 */
export function isRow(row: unknown): row is Row {
  if (!Array.isArray(row) || row.length < fixedValues + firstFields) return false;
  const [id, createdAt, ...texts] = row.slice(0, fixedValues + optionalFields.length) as unknown[];
  return isTime(createdAt) && [id, ...texts].every((text) => typeof text === 'string');
}

/** The same for a row of version 2. */
export function isTimedRow(row: unknown): row is TimedRow {
  return Array.isArray(row) && (row[0] === null || isTime(row[0])) && isRow(row.slice(1));
}

function isTime(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= latest;
}

/**
 * False for a row with a text of a field that this release does not know: it stores the event
 * without that text, so the digest of ingest is not that of the stored event.
 */
export function isWholeRow(row: Row | TimedRow): boolean {
  const known = fixedValues + optionalFields.length + (typeof row[0] === 'string' ? 0 : 1);
  return row.length <= known || row.slice(known).every((text) => text === '');
}

/** An event as a job carries it. */
export function toRow(event: AcceptedEvent): Row {
  const { id, createdAt, organization, automationId, executionId, kind } = event;
  return [id, createdAt, organization, automationId, executionId, kind, ...textsOf(event)];
}

/** The event of a row, and its digest if any. A text that an older release did not write is ''. */
export function fromRow(row: Row, digest?: string): AcceptedEvent {
  const [id, createdAt, organization, automationId, executionId, kind, ...texts] = row;
  const known = optionalTexts((_field, index) => texts[index] ?? '');
  // Not in two steps: each event would be copied.
  return digest === undefined
    ? { id, createdAt, organization, automationId, executionId, kind, ...known }
    : { id, createdAt, organization, automationId, executionId, kind, ...known, digest };
}

/** An event as a job of version 2 carries it. */
export function toTimedRow(event: AcceptedEvent): TimedRow {
  return [event.occurredAt ?? null, ...toRow(event)];
}

export function fromTimedRow([occurredAt, ...row]: TimedRow, digest?: string): AcceptedEvent {
  return occurredAt === null ? fromRow(row, digest) : { ...fromRow(row, digest), occurredAt };
}
