import type { Transform } from 'node:stream';
import { createZstdDecompress } from 'node:zlib';
import { contentSizeOf } from './frame.ts';

const options = { chunkSize: 64 * 1_024 };

/** A stream that decompresses each frame written to it. */
export function createDecompressor(): Transform {
  return createZstdDecompress(options);
}

/**
 * Decompresses many frames, one after another, in one stream. A stream per frame would keep its
 * buffers until a full garbage collection.
 */
export class Decompression {
  readonly #create: () => Transform;
  #stream: Transform | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(create: () => Transform = createDecompressor) {
    this.#create = create;
  }

  /**
   * Resolves with the result of `use` on the output. The caller has checked the size that the frame
   * claims: exactly that much memory is taken. Rejects when the frame is damaged or its size
   * differs, when `use` throws, when memory is short, or after `close`. Retries once in a new
   * stream, since an earlier incomplete frame may have damaged the old one.
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
   * Resolves with the output of one frame. After a failure Node never calls back, and only closes.
   */
  async #write(frame: Buffer): Promise<Buffer> {
    if (this.#closed) throw new Error('the stream is closed');
    const stream = (this.#stream ??= this.#create().on('error', () => undefined));
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const fail = (): void => reject(stream.errored ?? new Error('the stream was closed, or the frame is incomplete'));
    const output = collect(stream, contentSizeOf(frame));
    stream.once('close', fail);
    stream.write(frame, (error) => {
      stream.off('close', fail);
      const content = output.end();
      if (error || stream.destroyed || content === undefined) fail();
      else resolve(content);
    });
    return promise;
  }
}

/** Collects the output of a stream until `end`; destroys the stream if it exceeds `size`. */
function collect(stream: Transform, size: number): { end: () => Buffer | undefined } {
  const content = Buffer.allocUnsafe(size);
  let bytes = 0;
  const take = (piece: Buffer): void => {
    if (bytes + piece.length > size) stream.destroy(new Error(`the frame exceeds ${size} bytes`));
    else bytes += piece.copy(content, bytes);
  };
  stream.on('data', take);
  return {
    end: () => {
      stream.off('data', take);
      const rest = stream.destroyed ? null : (stream.read() as Buffer | null);
      if (rest !== null) take(rest);
      return bytes === size ? content : undefined;
    },
  };
}
