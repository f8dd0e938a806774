import type { AcceptedEvent } from '../event/event.ts';
import { Decompression } from './decompression.ts';
import { splitDigests } from './digests.ts';
import { fromRow, fromTimedRow, isRow, isTimedRow, isWholeRow, UnreadableJob, type Row, type TimedRow } from './job.ts';

/** Unpacks job data. */
export class JobDecoder {
  readonly #decompression = new Decompression();

  /** Resolves with the events in order. Rejects with {@link UnreadableJob}. */
  async decode(data: unknown): Promise<AcceptedEvent[]> {
    const { v, rows, zstd, digests } = (data ?? {}) as Record<string, unknown>;
    const read = v === 1 ? events : v === 2 ? timedEvents : undefined;
    if (!read) throw new UnreadableJob(`job data has version ${String(v)}, this release reads versions 1 and 2`);
    try {
      return typeof zstd === 'string' ? await this.#unpack(zstd, (found) => read(found, digests)) : read(rows, digests);
    } catch (error) {
      throw new UnreadableJob('job data is damaged', { cause: error });
    }
  }

  /** Gives the decompressor's memory back, for good: jobs under way become unreadable. */
  close(): void {
    this.#decompression.close();
  }

  #unpack(zstd: string, read: (rows: unknown) => AcceptedEvent[]): Promise<AcceptedEvent[]> {
    return this.#decompression.run(Buffer.from(zstd, 'base64'), (json) => read(JSON.parse(json.toString())));
  }
}

function events(rows: unknown, digests: unknown): AcceptedEvent[] {
  if (!Array.isArray(rows) || !rows.every(isRow)) throw new Error('rows are not events');
  const digestAt = digestsOf(rows, digests);
  return rows.map((row, at) => fromRow(row, digestAt(at)));
}

function timedEvents(rows: unknown, digests: unknown): AcceptedEvent[] {
  if (!Array.isArray(rows) || !rows.every(isTimedRow)) throw new Error('rows are not events');
  const digestAt = digestsOf(rows, digests);
  return rows.map((row, at) => fromTimedRow(row, digestAt(at)));
}

/** Gives the digest of a row by its place, if the job has some. @throws when they are damaged. */
function digestsOf(rows: (Row | TimedRow)[], digests: unknown): (at: number) => string | undefined {
  const none = (): undefined => undefined;
  if (typeof digests !== 'string') return none;
  const digestAt = splitDigests(digests, rows.length);
  return rows.every(isWholeRow) ? digestAt : none;
}
