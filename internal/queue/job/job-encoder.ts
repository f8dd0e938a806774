import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import { compress } from '@cloudpss/zstd';
import type { AcceptedEvent } from '../../event/event.ts';
import { heldBytes } from '../../event/held-bytes.ts';
import { joinSeals } from '../../event/digest.ts';
import { joinList } from '../../kit/join-list.ts';
import { contentSizeOf } from './frame.ts';
import { checksumOf, jobVersion, toRow, type JobData } from './job.ts';

/** Compression that saves less is not worth its time at the worker: 40 µs for a lone event. */
const worthwhile = 0.9;

/** A longer text is always compressed, because a frame states its size before it is unpacked. */
const longestPlain = 65_536;

export interface EncodeOptions {
  /** True adds the events' seals. Events that already have one keep it either way. */
  seals?: boolean | undefined;
  /** Resolves when the next step may run. Default: in the next turn of the event loop. */
  rest?: () => Promise<unknown>;
}

/** Packs events into job data, in order. */
export function encodeJob(events: readonly AcceptedEvent[], options: EncodeOptions = {}): JobData {
  const rows = events.map(toRow);
  const json = JSON.stringify(rows);
  const zstd = pack(json);
  const seals = hasSeals(events, options) ? joinSeals(events) : undefined;
  const isCompressed = zstd.length < json.length * worthwhile || json.length > longestPlain;
  if (isCompressed) return compressedJob(zstd, seals);
  return { v: jobVersion, sum: checksumOf(json, seals), rows, ...(seals !== undefined && { seals }) };
}

/** Memory of the events in one step, in bytes: about 1 ms of work. */
const stepBytes = 131_072;

/**
 * As {@link encodeJob}, for events that take much memory: encodes in short steps with a `rest`
 * after each, and compresses on another thread.
 */
export async function encodeLargeJob(events: readonly AcceptedEvent[], options: EncodeOptions = {}): Promise<JobData> {
  const { rest = nextTurn } = options;
  const isSealed = hasSeals(events, options);
  const pieces: Buffer[] = [];
  let seals = '';
  for (const step of stepsOf(events)) {
    pieces.push(Buffer.from(JSON.stringify(step.map(toRow)).slice(1, -1)));
    if (isSealed) seals += joinSeals(step);
    await rest();
  }
  const zstd = await packLarge(joinList(pieces));
  return compressedJob(zstd, isSealed ? seals : undefined);
}

/** Longest header of a frame, in characters of base64. */
const headerLength = 24;

/**
 * Returns the data of a job whose rows are in a base64 frame.
 * @throws when the frame does not state its size, since no worker would take the job. Node's
 * compressor only writes it with `pledgedSrcSize`.
 */
export function compressedJob(zstd: string, seals?: string): JobData {
  contentSizeOf(Buffer.from(zstd.slice(0, headerLength), 'base64'));
  return { v: jobVersion, sum: checksumOf(zstd, seals), zstd, ...(seals !== undefined && { seals }) };
}

function stepsOf(events: readonly AcceptedEvent[]): AcceptedEvent[][] {
  const steps: AcceptedEvent[][] = [];
  let bytes = Infinity;
  for (const event of events) {
    if (bytes > stepBytes) {
      steps.push([]);
      bytes = 0;
    }
    steps.at(-1)?.push(event);
    bytes += heldBytes(event);
  }
  return steps;
}

function hasSeals(events: readonly AcceptedEvent[], { seals = false }: EncodeOptions): boolean {
  return seals || events.some(({ seal }) => seal !== undefined);
}

/**
 * Shrinks an event of 310 bytes to 60–120. Higher levels cost ingest more than they save in Redis.
 */
const level = 1;

/**
 * Returns the text as a zstd frame in base64. Compresses on the calling thread, which is faster
 * than another one. Buffers of Node's `zstdCompressSync` would stay in memory until a full garbage
 * collection.
 */
function pack(text: string): string {
  const { buffer, byteOffset, byteLength } = compress(Buffer.from(text), level);
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

const compressElsewhere = promisify(zstdCompress);

/** As {@link pack}, on another thread, which leaves this one free and needs few buffers. */
async function packLarge(text: Buffer): Promise<string> {
  const params = { [constants.ZSTD_c_compressionLevel]: level };
  // Makes the frame state the size of its content.
  const frame = await compressElsewhere(text, { params, pledgedSrcSize: text.length });
  return frame.toString('base64');
}
