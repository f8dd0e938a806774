import type { AcceptedEvent } from '../event/event.ts';
import { pack } from './compression.ts';
import { toRow, type JobData } from './job.ts';

/** Packs events into job data, in order. */
export function encodeJob(events: readonly AcceptedEvent[]): JobData {
  const rows = events.map(toRow);
  const json = JSON.stringify(rows);
  const zstd = pack(json);
  return zstd.length < json.length ? { v: 1, zstd } : { v: 1, rows };
}
