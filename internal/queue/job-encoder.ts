import type { AcceptedEvent } from '../event/event.ts';
import { pack } from './compression.ts';
import { joinDigests } from './digests.ts';
import { checksumOf, jobVersion, toRow, type JobData } from './job.ts';

/** Compression that saves less is not worth its time at the worker: 40 µs for a lone event. */
const worthwhile = 0.9;

/** A longer text is always compressed: a frame says before it is unpacked how large it becomes. */
const longestPlain = 65_536;

/**
 * Packs events into job data, in order: with their digests if `digests` asks for them, or if events
 * came with some.
 */
export function encodeJob(
  events: readonly AcceptedEvent[],
  { digests = false }: { digests?: boolean | undefined } = {},
): JobData {
  const rows = events.map(toRow);
  const json = JSON.stringify(rows);
  const zstd = pack(json);
  const joined = digests || events.some(({ digest }) => digest !== undefined) ? joinDigests(events) : undefined;
  const compressed = zstd.length < json.length * worthwhile || json.length > longestPlain;
  return {
    v: jobVersion,
    sum: checksumOf(compressed ? zstd : json, joined),
    ...(compressed ? { zstd } : { rows }),
    ...(joined !== undefined && { digests: joined }),
  };
}
