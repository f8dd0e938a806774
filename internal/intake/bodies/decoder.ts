import { RequestError } from '../../kit/errors/request-error.ts';
import type { Encoding } from './content-encoding.ts';

/** Receives the pieces of a body. Refuses the body by throwing a {@link RequestError}. */
export type Take = (piece: Buffer) => void | Promise<void>;

/** Most frames of a zstd body that each need a new stream. */
const mostStreams = 1_000;

type Stream = ReturnType<Encoding['createStream']>;

/** A decoding stream. `ended` resolves at the end of its output, with the error if any. */
interface Running {
  readonly stream: Stream;
  readonly ended: Promise<unknown>;
}

/**
 * Decodes the pieces of a body off the event loop and passes the output to `take` in small pieces.
 * Holds only a few of them, however large the whole is.
 */
export class Decoder {
  readonly #encoding: Encoding;
  readonly #take: Take;
  #running: Running | undefined;
  #streams = 0;
  #bytes = 0;
  #isNamed = true;

  constructor(encoding: Encoding, take: Take) {
    this.#encoding = encoding;
    this.#take = take;
  }

  /**
   * Resolves when a piece is decoded and all but its last output is taken. Rejects with 400 if it
   * cannot be decoded, or with the error of `take`.
   */
  async write(piece: Buffer): Promise<void> {
    if (this.#bytes === 0) this.#isNamed = piece[0] === this.#encoding.firstByte;
    this.#bytes += piece.length;
    for (let rest = piece; rest.length > 0;) {
      const { stream, ended } = (this.#running ??= this.#start());
      const before = stream.bytesWritten;
      const written = new Promise<undefined>((resolve) => stream.write(rest, () => resolve(undefined)));
      this.#check(await Promise.race([ended, written]));
      rest = rest.subarray(stream.bytesWritten - before);
      if (rest.length > 0) this.#goOnAfter(await ended);
    }
  }

  /** Resolves when all is taken. Rejects as {@link write} does, and with 400 without an end. */
  async end(): Promise<void> {
    if (this.#running === undefined) return;
    this.#running.stream.end();
    this.#check(await this.#running.ended);
  }

  /** Frees the decoder's memory. */
  close(): void {
    this.#running?.stream.destroy();
  }

  #start(): Running {
    const stream = this.#encoding.createStream();
    this.#streams += 1;
    return { stream, ended: this.#read(stream) };
  }

  async #read(stream: Stream): Promise<unknown> {
    try {
      for await (const piece of stream as AsyncIterable<Buffer>) await this.#take(piece);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** The stream has ended before its input; in zstd, another frame may follow. */
  #goOnAfter(error: unknown): void {
    this.#check(error);
    if (this.#encoding.name !== 'zstd' || this.#streams === mostStreams) throw this.#undecodable(afterEnd);
    this.#running = undefined;
  }

  #check(error: unknown): void {
    if (error === undefined) return;
    // Only errors of zlib and zstd have this property.
    if (!(error instanceof Error && 'errno' in error && 'code' in error)) throw error;
    throw this.#undecodable(this.#explain(String(error.code), error.message));
  }

  #explain(code: string, message: string): string {
    if (code === 'Z_BUF_ERROR') return `ends early, after ${this.#bytes} bytes`;
    if (code === 'ZSTD_error_frameParameter_windowTooLarge') return 'needs a window of more than 8 MiB';
    const isHeader = message === 'incorrect header check' || code === 'ZSTD_error_prefix_unknown';
    if (!isHeader) return 'is corrupt';
    return this.#isNamed ? afterEnd : 'is something else';
  }

  #undecodable(what: string): RequestError {
    const detail = `must be ${this.#encoding.name}, as Content-Encoding says: it ${what}`;
    return new RequestError('malformed-request', 'The body cannot be decoded; see errors.', [{ pointer: '', detail }]);
  }
}

const afterEnd = 'goes on after its end';
