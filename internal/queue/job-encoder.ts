import type { AcceptedEvent } from '../event/event.ts';
import { pack } from './compression.ts';
import { joinDigests } from './digests.ts';
import { toRow, toTimedRow, type JobData } from './job.ts';

/**
 * Packs events into job data, in order: with their digests if `digests` asks for them, or if events
 * came with some.
 */
export function encodeJob(
  events: readonly AcceptedEvent[],
  { digests = false }: { digests?: boolean | undefined } = {},
): JobData {
  const data = rowsOf(events);
  const json = JSON.stringify(data.rows);
  const zstd = pack(json);
  const packed = zstd.length < json.length ? { v: data.v, zstd } : data;
  const hasDigests = digests || events.some(({ digest }) => digest !== undefined);
  return hasDigests ? { ...packed, digests: joinDigests(events) } : packed;
}

function rowsOf(events: readonly AcceptedEvent[]) {
  const isTimed = events.some(({ occurredAt }) => occurredAt !== undefined);
  return isTimed ? { v: 2 as const, rows: events.map(toTimedRow) } : { v: 1 as const, rows: events.map(toRow) };
}
