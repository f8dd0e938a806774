import { crc32 } from 'node:zlib';
import type { AcceptedEvent } from '../../event/event.ts';
import { firstFields, optionalFields, optionalTexts, textsOf } from '../../event/fields.ts';
import { eventKinds } from '../../event/schema.ts';

/** The version of the format that this release writes and reads. */
export const jobVersion = 1;

/**
 * The data of a job: a batch of events. A JSON array with one row per event, either plain (`rows`)
 * or compressed with zstd (`zstd`, base64: one frame that states the size of its content). `seals`
 * holds the events' seals, 64 characters each. `sum` covers all of them. `without` lists rows that
 * Redis left out since their idempotency keys are not new; `withoutSum` is its SHA-1. A release
 * with another seal, or another reading of rows, needs another version.
 */
export type JobData = { v: typeof jobVersion; sum: number; seals?: string; without?: number[]; withoutSum?: string } & (
  { rows: Row[] } | { zstd: string }
);

/**
 * An event in a job. `occurredAt` is null if the caller did not say. The texts follow the table of
 * fields. A release with more fields writes more of them: an earlier worker returns the job if it
 * would lose a text (`isKnownRow`).
 */
export type Row = [
  id: string,
  createdAt: number,
  occurredAt: number | null,
  organization: string,
  automationId: string,
  executionId: string,
  kind: AcceptedEvent['kind'],
  ...texts: string[],
];

/** Values that precede the texts. */
const fixedValues = 7;

const kinds: ReadonlySet<string> = new Set(eventKinds);

/** Another release wrote the job, and this one does not know everything in it. */
export class UnknownFormat extends Error {
  override readonly name = 'UnknownFormat';
}

/** The job is not as ingest wrote it. */
export class DamagedJob extends Error {
  override readonly name = 'DamagedJob';
}

/** The last millisecond of the year 9999, the latest with a four-digit year. */
const latest = 253_402_300_799_999;

/**
 * CRC-32 of what a job carries: the text of its frame or rows, then its seals. It detects every
 * change within 32 neighbouring bits; zstd frames detect few of them.
 */
export function checksumOf(payload: string, seals = ''): number {
  return crc32(seals, crc32(payload));
}

/** True for a row with the store's types. Values that Postgres rejects become dead letters. */
export function isRow(row: unknown): row is Row {
  if (!Array.isArray(row) || row.length < fixedValues + firstFields) return false;
  const [id, createdAt, occurredAt, ...texts] = row.slice(0, fixedValues + optionalFields.length) as unknown[];
  if (!isTime(createdAt) || (occurredAt !== null && !isTime(occurredAt))) return false;
  return [id, ...texts].every((text) => typeof text === 'string');
}

function isTime(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= latest;
}

/**
 * True if this release knows everything in the row. A newer one may add a kind, or a field whose
 * text this one would lose.
 */
export function isKnownRow(row: Row): boolean {
  const known = fixedValues + optionalFields.length;
  return kinds.has(row[6]) && (row.length <= known || row.slice(known).every((text) => text === ''));
}

/** An event as a job carries it. */
export function toRow(event: AcceptedEvent): Row {
  const { id, createdAt, occurredAt = null, organization, automationId, executionId, kind } = event;
  return [id, createdAt, occurredAt, organization, automationId, executionId, kind, ...textsOf(event)];
}

/** The event of a row, with its seal if any. A text that an older release did not write is ''. */
export function fromRow(row: Row, seal?: string): AcceptedEvent {
  const [id, createdAt, occurredAt, organization, automationId, executionId, kind, ...texts] = row;
  const known = optionalTexts((_field, index) => texts[index] ?? '');
  // Built in one step: adding properties later would copy each event.
  const event = { id, createdAt, organization, automationId, executionId, kind, ...known };
  if (occurredAt === null) return seal === undefined ? event : Object.assign(event, { seal });
  return Object.assign(event, seal === undefined ? { occurredAt } : { occurredAt, seal });
}
