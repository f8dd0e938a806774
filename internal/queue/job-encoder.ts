import type { Transform } from 'node:stream';
import { constants, createZstdCompress } from 'node:zlib';
import type { AcceptedEvent } from '../event/event.ts';
import { toRow, type JobData } from './job.ts';

/**
 * Level 1 shrinks 310 bytes an event to 60–120; higher levels cost ingest more than they save Redis. What a write
 * gives is complete: frames of its own.
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
  readonly #create: () => Transform;
  #compressor: Transform | undefined;

  constructor(create: () => Transform = () => createZstdCompress(options)) {
    this.#create = create;
  }

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

  /**
   * Writes are done one after another, and what one gives is there to be read when it is done. After a failure Node never
   * calls back: it only closes.
   */
  #compress(text: string): Promise<Buffer> {
    const compressor = (this.#compressor ??= this.#open());
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const fail = (): void => reject(compressor.errored ?? new Error('the encoder was closed'));
    compressor.once('close', fail);
    compressor.write(text, (error) => {
      compressor.off('close', fail);
      const frames = compressor.read() as Buffer | null;
      if (error || compressor.destroyed || frames === null) fail();
      else resolve(frames);
    });
    return promise;
  }

  #open(): Transform {
    const compressor = this.#create().setMaxListeners(0);
    compressor.on('error', () => undefined);
    compressor.once('close', () => {
      if (this.#compressor === compressor) this.#compressor = undefined;
    });
    return compressor;
  }
}
