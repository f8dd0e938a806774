import type { AcceptedEvent } from '../event/event.ts';
import { pack } from './compression.ts';
import { toRow, toTimedRow, type JobData } from './job.ts';

/** Packs events into job data, in order. */
export function encodeJob(events: readonly AcceptedEvent[]): JobData {
  const data = rowsOf(events);
  const json = JSON.stringify(data.rows);
  const zstd = pack(json);
  return zstd.length < json.length ? { v: data.v, zstd } : data;
}

function rowsOf(events: readonly AcceptedEvent[]) {
  const isTimed = events.some(({ occurredAt }) => occurredAt !== undefined);
  return isTimed ? { v: 2 as const, rows: events.map(toTimedRow) } : { v: 1 as const, rows: events.map(toRow) };
}
