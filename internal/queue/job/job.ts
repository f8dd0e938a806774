import { crc32 } from 'node:zlib';
import type { AcceptedEvent } from '../../event/event.ts';
import { firstFields, optionalFields, optionalTexts, textsOf } from '../../event/fields.ts';
import { eventKinds } from '../../event/schema.ts';

/** The version of the format that this release writes and reads. */
export const jobVersion = 1;

/**
 * The data of a job: a batch of events. It is a JSON array of rows, one an event, either plain
 * (`rows`) or compressed with zstd (`zstd`, base64: one frame that says how large its content is).
 * `seals` are those of the events, 64 characters each. `sum` covers all of them. A release that
 * makes another seal, or reads rows differently, needs another version.
 */
export type JobData = { v: typeof jobVersion; sum: number; seals?: string } & ({ rows: Row[] } | { zstd: string });

/**
 * An event in a job. `occurredAt` is null if the caller did not say. The texts follow the table of
 * fields. A release that knows more fields writes more of them: a worker of an earlier one returns
 * the job if it would lose a text (`isKnownRow`).
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

/** Values before the texts. */
const fixedValues = 7;

const kinds: ReadonlySet<string> = new Set(eventKinds);

/** Another release wrote the job, and this one does not know all that it holds. */
export class UnknownFormat extends Error {
  override readonly name = 'UnknownFormat';
}

/** The job is not as ingest wrote it. */
export class DamagedJob extends Error {
  override readonly name = 'DamagedJob';
}

/** The last millisecond of the year 9999: the latest time whose year has four digits. */
const latest = 253_402_300_799_999;

/**
 * CRC-32 of what a job carries: the text of its frame or of its rows, then its seals. It finds
 * each change of up to 32 neighbouring bits for certain; a frame of zstd finds few of them.
 */
export function checksumOf(payload: string, seals = ''): number {
  return crc32(seals, crc32(payload));
}

/**
 * True for a row with the store's types. The store keeps values that Postgres rejects as dead
 * letters.
 */
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
 * True if this release knows all that the row holds. A newer one may add a kind, or a field whose
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

/** The event of a row, and its seal if any. A text that an older release did not write is ''. */
export function fromRow(row: Row, seal?: string): AcceptedEvent {
  const [id, createdAt, occurredAt, organization, automationId, executionId, kind, ...texts] = row;
  const known = optionalTexts((_field, index) => texts[index] ?? '');
  // Not in steps: each event would be copied.
  const event = { id, createdAt, organization, automationId, executionId, kind, ...known };
  if (occurredAt === null) return seal === undefined ? event : Object.assign(event, { seal });
  return Object.assign(event, seal === undefined ? { occurredAt } : { occurredAt, seal });
}
