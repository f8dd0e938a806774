import type { AcceptedEvent } from '../event/event.ts';
import { pack } from './compression.ts';
import { joinDigests } from './digests.ts';
import { contentSizeOf } from './frame.ts';
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
  if (compressed) return compressedJob(zstd, joined);
  return { v: jobVersion, sum: checksumOf(json, joined), rows, ...(joined !== undefined && { digests: joined }) };
}

/** Longest header of a frame, in characters of base64. */
const headerLength = 24;

/**
 * Returns the data of a job whose rows are in a frame, in base64.
 * @throws when the frame does not say how large it becomes: no worker would take the job. Node's
 * compressor says so only with `pledgedSrcSize`.
 */
export function compressedJob(zstd: string, digests?: string): JobData {
  contentSizeOf(Buffer.from(zstd.slice(0, headerLength), 'base64'));
  return { v: jobVersion, sum: checksumOf(zstd, digests), zstd, ...(digests !== undefined && { digests }) };
}
