import { hash } from 'node:crypto';
import type { AcceptedEvent } from '../../event/event.ts';
import { Decompression } from './decompression.ts';
import { splitSeals } from '../../event/digest.ts';
import { contentSizeOf } from './frame.ts';
import { checksumOf, DamagedJob, fromRow, isKnownRow, isRow, jobVersion, UnknownFormat } from './job.ts';
import { parseRows } from './parse-rows.ts';

/**
 * V8 stores a string with one character beyond U+00FF in two bytes a character. So events take at
 * most twice the bytes of their JSON; with short texts, their objects take about as much.
 */
const bytesPerByte = 2;

/** A job whose checksum is right, before its events are unpacked. */
export interface PackedJob {
  /** Estimate of the memory that its events will take, in bytes. */
  readonly bytes: number;
  /** The events in order. Rejects with {@link DamagedJob} or {@link UnknownFormat}. */
  events(): Promise<AcceptedEvent[]>;
}

/** Unpacks job data. */
export class JobDecoder {
  readonly #decompression = new Decompression();

  /**
   * Reads and checks the JSON of job data.
   * @throws {UnknownFormat} when another release wrote it.
   * @throws {DamagedJob} when it differs from what was written.
   */
  open(text: string): PackedJob {
    const { v, sum, rows, zstd, seals, without, withoutSum } = objectOf(text);
    if (Number.isSafeInteger(v) && v !== jobVersion) {
      throw new UnknownFormat(`job data has version ${String(v)}, this release reads version ${jobVersion}`);
    }
    const payload = typeof zstd === 'string' ? zstd : Array.isArray(rows) ? JSON.stringify(rows) : undefined;
    const joined = typeof seals === 'string' ? seals : undefined;
    const left = leftOut(without, withoutSum);
    if (v !== jobVersion || payload === undefined || checksumOf(payload, joined) !== sum || left === undefined) {
      throw new DamagedJob('the checksum of the job is not that of its data');
    }
    const packed =
      typeof zstd === 'string'
        ? this.#packed(Buffer.from(zstd, 'base64'), joined)
        : { bytes: payload.length * bytesPerByte, events: () => damagedOn(async () => eventsOf(rows, joined)) };
    if (left.size === 0) return packed;
    return { ...packed, events: async () => (await packed.events()).filter((_, at) => !left.has(at)) };
  }

  /** Frees the decompressor's memory for good; running jobs become unreadable. */
  close(): void {
    this.#decompression.close();
  }

  #packed(frame: Buffer, seals: string | undefined): PackedJob {
    const unpack = () => this.#decompression.run(frame, (content) => eventsOf(parseRows(content), seals));
    return { bytes: sizeOf(frame) * bytesPerByte, events: () => damagedOn(unpack) };
  }
}

/** The places of rows that Redis left out; undefined if their list is damaged. */
function leftOut(without: unknown, sum: unknown): ReadonlySet<unknown> | undefined {
  if (without === undefined && sum === undefined) return new Set();
  return Array.isArray(without) && hash('sha1', String(without)) === sum ? new Set(without) : undefined;
}

function objectOf(text: string): Record<string, unknown> {
  try {
    return { ...(JSON.parse(text) as object | null) };
  } catch (error) {
    throw new DamagedJob('the job is not JSON', { cause: error });
  }
}

function sizeOf(frame: Buffer): number {
  try {
    return contentSizeOf(frame);
  } catch (error) {
    throw new DamagedJob('the job cannot be decompressed', { cause: error });
  }
}

/** @throws {UnknownFormat} that the work returns: thrown inside, it would end the decompressor. */
async function damagedOn(work: () => Promise<AcceptedEvent[] | UnknownFormat>): Promise<AcceptedEvent[]> {
  const events = await work().catch((error: unknown) => {
    throw new DamagedJob('the job does not hold events', { cause: error });
  });
  if (events instanceof UnknownFormat) throw events;
  return events;
}

function eventsOf(rows: unknown, seals: string | undefined): AcceptedEvent[] | UnknownFormat {
  if (!Array.isArray(rows) || !rows.every(isRow)) throw new Error('rows are not events');
  if (!rows.every(isKnownRow)) return new UnknownFormat('this release does not know a field or a kind of the events');
  if (seals === undefined) return rows.map((row) => fromRow(row));
  const sealAt = splitSeals(seals, rows.length);
  return rows.map((row, at) => fromRow(row, sealAt(at)));
}
