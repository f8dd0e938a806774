import type { Transform } from 'node:stream';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';

/** What a write gives is read when it is done, however much that is: a limit would hold it up for ever. */
const common = { chunkSize: 64 * 1_024, readableHighWaterMark: Number.MAX_SAFE_INTEGER };

/**
 * Compresses with zstd. Level 1 shrinks 310 bytes an event to 60–120; higher levels cost ingest more than they save
 * Redis. What a write gives is complete: frames of its own.
 */
export function createCompressor(): Transform {
  const params = { [constants.ZSTD_c_compressionLevel]: 1 };
  return createZstdCompress({ ...common, params, flush: constants.ZSTD_e_end });
}

export function createDecompressor(): Transform {
  return createZstdDecompress(common);
}

/**
 * One compressor or decompressor for many inputs, one after another. One for each, as `zstdCompressSync` makes it, stays in
 * memory with its buffers until a full garbage collection: at half load there were up to six of those in 5 s in ingest, and
 * seven in a worker, and whoever wanted a core meanwhile waited for 10 to 30 ms (test/bench/README.md).
 */
export class Compression {
  readonly #create: () => Transform;
  #stream: Transform | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(create: () => Transform) {
    this.#create = create;
  }

  /**
   * Resolves with what `use` makes of the output. Rejects when the input is damaged, `use` throws, memory is short or it is
   * closed. A second try in a new stream tells whose fault it is: an input that ends early leaves the stream waiting for
   * the rest, and would spoil the next.
   */
  run<T>(input: string | Buffer, use: (output: Buffer) => T): Promise<T> {
    const result = this.#last.then(() => this.#try(input, use)).catch(() => this.#try(input, use));
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Gives the memory back, for good. */
  close(): void {
    this.#closed = true;
    this.#stream?.destroy();
  }

  async #try<T>(input: string | Buffer, use: (output: Buffer) => T): Promise<T> {
    try {
      return use(await this.#write(input));
    } catch (error) {
      this.#stream?.destroy();
      this.#stream = undefined;
      throw error;
    }
  }

  /** What a write gives is there to be read when it is done. After a failure Node never calls back: it only closes. */
  #write(input: string | Buffer): Promise<Buffer> {
    if (this.#closed) return Promise.reject(new Error('the stream is closed'));
    const stream = (this.#stream ??= this.#create().on('error', () => undefined));
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const fail = (): void => reject(stream.errored ?? new Error('the stream was closed, or gave nothing'));
    stream.once('close', fail);
    stream.write(input, (error) => {
      stream.off('close', fail);
      const output = stream.read() as Buffer | null;
      if (error || stream.destroyed || output === null) fail();
      else resolve(output);
    });
    return promise;
  }
}
