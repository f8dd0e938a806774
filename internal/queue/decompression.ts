import type { Transform } from 'node:stream';
import { createZstdDecompress } from 'node:zlib';

const options = { chunkSize: 64 * 1_024 };

/**
 * Most bytes of the JSON of one job: the largest batch (COMMIT_BATCH_BYTES, at most 64 MiB) with
 * each character escaped as six bytes, and the fixed fields.
 */
const largestJob = 512 * 1_024 * 1_024;

/** A stream that decompresses each frame written to it. */
export function createDecompressor(): Transform {
  return createZstdDecompress(options);
}

/**
 * Decompresses many frames, one after another, with one stream: a stream per frame would keep its
 * buffers until a full garbage collection. Node's decompressor rejects a damaged frame before it
 * allocates the size that the frame claims; `@cloudpss/zstd` allocates up to 1 GB first.
 */
export class Decompression {
  readonly #create: () => Transform;
  readonly #mostBytes: number;
  #stream: Transform | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(create: () => Transform = createDecompressor, mostBytes = largestJob) {
    this.#create = create;
    this.#mostBytes = mostBytes;
  }

  /**
   * Resolves with the result of `use` on the output. Rejects when the frame is damaged, `use`
   * throws, memory is short, or after `close`. Retries once in a new stream, since an earlier
   * incomplete frame may have damaged the old one.
   */
  run<T>(frame: Buffer, use: (output: Buffer) => T): Promise<T> {
    const result = this.#last.then(() => this.#try(frame, use)).catch(() => this.#try(frame, use));
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Frees the memory for good. */
  close(): void {
    this.#closed = true;
    this.#stream?.destroy();
  }

  async #try<T>(frame: Buffer, use: (output: Buffer) => T): Promise<T> {
    try {
      return use(await this.#write(frame));
    } catch (error) {
      this.#stream?.destroy();
      this.#stream = undefined;
      throw error;
    }
  }

  /**
   * Resolves with the output of one frame. After a failure Node never calls back: it only closes.
   * A frame that yields more than the bound ends the stream, so that memory stays bounded.
   */
  #write(frame: Buffer): Promise<Buffer> {
    if (this.#closed) return Promise.reject(new Error('the stream is closed'));
    const stream = (this.#stream ??= this.#create().on('error', () => undefined));
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const fail = (): void => reject(stream.errored ?? new Error('the stream was closed, or the frame is empty'));
    const output = collect(stream, this.#mostBytes);
    stream.once('close', fail);
    stream.write(frame, (error) => {
      stream.off('close', fail);
      const pieces = output.end();
      if (error || stream.destroyed || pieces.length === 0) fail();
      else resolve(Buffer.concat(pieces));
    });
    return promise;
  }
}

/** Collects the output of a stream until `end`. Past `mostBytes` it destroys the stream. */
function collect(stream: Transform, mostBytes: number): { end: () => Buffer[] } {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const take = (piece: Buffer): void => {
    bytes += piece.length;
    pieces.push(piece);
    if (bytes > mostBytes) stream.destroy(new Error(`the frame holds more than ${mostBytes} bytes`));
  };
  stream.on('data', take);
  return {
    end: () => {
      stream.off('data', take);
      const rest = stream.destroyed ? null : (stream.read() as Buffer | null);
      if (rest !== null) take(rest);
      return pieces;
    },
  };
}
