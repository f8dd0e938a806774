import type { AcceptedEvent } from '../event/event.ts';

/**
 * What a job carries: a batch of events. Version 1 is a JSON array of rows, one an event, either as it is (`rows`)
 * or compressed with zstd (`zstd`, base64) when that is shorter. Readers keep understanding every version written
 * since the last major release, so that pods of two releases can share a queue.
 */
export type JobData = { v: 1; rows: Row[] } | { v: 1; zstd: string };

export type Row = [
  id: string,
  createdAt: number,
  organization: string,
  automationId: string,
  executionId: string,
  kind: AcceptedEvent['kind'],
  description: string,
  errorId: string,
  errorDescription: string,
];

/** A job whose data this release cannot read: written by a newer one, or damaged. */
export class UnreadableJob extends Error {
  override readonly name = 'UnreadableJob';
}

/** The last millisecond of the year 9999: the latest that has a day of four digits. */
const latest = 253_402_300_799_999;

/** What holds the store's types. Values that Postgres refuses are the store's matter: it keeps them as dead letters. */
export function isRow(row: unknown): row is Row {
  if (!Array.isArray(row) || row.length < 9) return false;
  const [id, createdAt, ...texts] = row.slice(0, 9) as unknown[];
  const inTime = Number.isInteger(createdAt) && Number(createdAt) >= 0 && Number(createdAt) <= latest;
  return inTime && [id, ...texts].every((text) => typeof text === 'string');
}

/** An event as a job carries it. */
export function toRow(event: AcceptedEvent): Row {
  return [
    event.id,
    event.createdAt,
    event.organization,
    event.automationId,
    event.executionId,
    event.kind,
    event.description,
    event.errorId,
    event.errorDescription,
  ];
}

/** The event that a row carries. */
export function fromRow(row: Row): AcceptedEvent {
  const [id, createdAt, organization, automationId, executionId, kind, description, errorId, errorDescription] = row;
  return { id, createdAt, organization, automationId, executionId, kind, description, errorId, errorDescription };
}
