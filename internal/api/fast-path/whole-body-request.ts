import { IncomingMessage } from 'node:http';

/**
 * A request that hands over a body which came in one piece, as nearly all do, and says its length, without the stream:
 * its ticks and events cost more than the reading (test/bench/README.md). Every other body comes as the stream's. A request
 * with such a body counts as destroyed once it is read to its end, and emits nothing.
 */
export class WholeBodyRequest extends IncomingMessage {
  /** Node's own, for requests without a body: the stream is over. Where Node has it no more, the stream ends as any. */
  declare private readonly _dumpAndCloseReadable?: () => void;
  /** Whether the body came in one piece. Undefined until there is some of it, or somebody has asked for it. */
  #whole: boolean | undefined;
  #body: Buffer | undefined;

  /** The body, once, if it is here and came in one piece. Otherwise the stream has it, or will have it. */
  takeBody(): Buffer | undefined {
    this.#whole ??= false;
    const body = this.#body;
    this.#body = undefined;
    return body;
  }

  /** What Node's parser has read: a piece of the body, or null at its end. */
  override push(piece: Buffer | null): boolean {
    if (piece === null) return this.#end();
    this.#whole ??= piece.length === Number(this.headers['content-length']);
    if (!this.#whole) return super.push(piece);
    this.#body = piece;
    return true;
  }

  /** When it was answered before its end, Node lets the stream flow and waits for that: then it must end too. */
  #end(): boolean {
    if (!this.#whole || this.readableFlowing || !this._dumpAndCloseReadable) return super.push(null);
    this._dumpAndCloseReadable();
    return false;
  }
}
