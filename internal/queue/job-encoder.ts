import type { AcceptedEvent } from '../event/event.ts';
import { Compression, createCompressor } from './compression.ts';
import { toRow, type JobData } from './job.ts';

/** Packs events into job data. */
export class JobEncoder {
  readonly #compression = new Compression(createCompressor);

  /** Resolves with the events in order. Rejects when memory is short. */
  async encode(events: readonly AcceptedEvent[]): Promise<JobData> {
    const rows = events.map(toRow);
    const json = JSON.stringify(rows);
    const zstd = await this.#compression.run(json, (frame) => frame.toString('base64'));
    return zstd.length < json.length ? { v: 1, zstd } : { v: 1, rows };
  }

  /** Gives the compressor's memory back, for good. */
  close(): void {
    this.#compression.close();
  }
}
