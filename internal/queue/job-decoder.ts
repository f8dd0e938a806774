import type { AcceptedEvent } from '../event/event.ts';
import { Decompression } from './decompression.ts';
import { fromRow, fromTimedRow, isRow, isTimedRow, UnreadableJob } from './job.ts';

/** Unpacks job data. */
export class JobDecoder {
  readonly #decompression = new Decompression();

  /** Resolves with the events in order. Rejects with {@link UnreadableJob}. */
  async decode(data: unknown): Promise<AcceptedEvent[]> {
    const { v, rows, zstd } = (data ?? {}) as { v?: unknown; rows?: unknown; zstd?: unknown };
    const read = v === 1 ? events : v === 2 ? timedEvents : undefined;
    if (!read) throw new UnreadableJob(`job data has version ${String(v)}, this release reads versions 1 and 2`);
    try {
      return typeof zstd === 'string' ? await this.#unpack(zstd, read) : read(rows);
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

function events(rows: unknown): AcceptedEvent[] {
  if (!Array.isArray(rows) || !rows.every(isRow)) throw new Error('rows are not events');
  return rows.map(fromRow);
}

function timedEvents(rows: unknown): AcceptedEvent[] {
  if (!Array.isArray(rows) || !rows.every(isTimedRow)) throw new Error('rows are not events');
  return rows.map(fromTimedRow);
}
