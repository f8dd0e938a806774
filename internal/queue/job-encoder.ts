import { constants, createZstdCompress, type ZstdCompress } from 'node:zlib';
import type { AcceptedEvent } from '../event/event.ts';
import { toRow, type JobData } from './job.ts';

/**
 * Level 1 shrinks 310 bytes an event to 60–120; higher levels cost ingest more than they save Redis. Each write becomes
 * a frame of its own.
 */
const options = {
  params: { [constants.ZSTD_c_compressionLevel]: 1 },
  flush: constants.ZSTD_e_end,
  chunkSize: 64 * 1_024,
  // What a write gives is read when it is done, however much that is: a limit would hold it up for ever.
  readableHighWaterMark: Number.MAX_SAFE_INTEGER,
};

/**
 * Packs events into job data, with one compressor for all. A compressor for each job, as `zstdCompressSync` makes it,
 * stays in memory with its buffers until a full garbage collection: at half load there were up to six of those in 5 s,
 * each of which held some 100 requests up for 10 to 30 ms (test/bench/README.md).
 */
export class JobEncoder {
  #compressor: ZstdCompress | undefined;

  /** Resolves with the events in order. Rejects when memory is short; the next job begins anew. */
  async encode(events: readonly AcceptedEvent[]): Promise<JobData> {
    const rows = events.map(toRow);
    const json = JSON.stringify(rows);
    const zstd = (await this.#compress(json)).toString('base64');
    return zstd.length < json.length ? { v: 1, zstd } : { v: 1, rows };
  }

  /** Gives the compressor's memory back. Jobs under way are rejected. */
  close(): void {
    this.#compressor?.destroy();
    this.#compressor = undefined;
  }

  /** Writes are done one after another, and what one gives is there to be read when it is done. */
  #compress(text: string): Promise<Buffer> {
    const compressor = (this.#compressor ??= this.#open());
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    compressor.write(text, (error) => {
      const frame = compressor.read() as Buffer | null;
      // Node calls back without an error too when the compressor was closed in between.
      if (error || compressor.destroyed || frame === null) reject(error ?? new Error('the encoder was closed'));
      else resolve(frame);
    });
    return promise;
  }

  #open(): ZstdCompress {
    const compressor = createZstdCompress(options);
    compressor.on('error', () => undefined);
    compressor.once('close', () => {
      if (this.#compressor === compressor) this.#compressor = undefined;
    });
    return compressor;
  }
}
