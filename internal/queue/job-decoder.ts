import type { AcceptedEvent } from '../event/event.ts';
import { Decompression } from './decompression.ts';
import { fromRow, isRow, UnreadableJob } from './job.ts';

/** Unpacks job data. */
export class JobDecoder {
  readonly #decompression = new Decompression();

  /** Resolves with the events in order. Rejects with {@link UnreadableJob}. */
  async decode(data: unknown): Promise<AcceptedEvent[]> {
    const { v, rows, zstd } = (data ?? {}) as { v?: unknown; rows?: unknown; zstd?: unknown };
    if (v !== 1) throw new UnreadableJob(`job data has version ${String(v)}, this release reads version 1`);
    try {
      return typeof zstd === 'string' ? await this.#unpack(zstd) : events(rows);
    } catch (error) {
      throw new UnreadableJob('job data is damaged', { cause: error });
    }
  }

  /** Gives the decompressor's memory back, for good: jobs under way become unreadable. */
  close(): void {
    this.#decompression.close();
  }

  #unpack(zstd: string): Promise<AcceptedEvent[]> {
    return this.#decompression.run(Buffer.from(zstd, 'base64'), (json) => events(JSON.parse(json.toString())));
  }
}

function events(rows: unknown): AcceptedEvent[] {
  if (!Array.isArray(rows) || !rows.every(isRow)) throw new Error('rows are not events');
  return rows.map(fromRow);
}
