import { IncomingMessage } from 'node:http';

/**
 * A request that returns a one-piece body without the stream, whose events cost more than the read
 * itself. One piece: the first has the length that Content-Length states. All other bodies go
 * through the stream.
 */
export class WholeBodyRequest extends IncomingMessage {
  /**
   * True if the body arrived in one piece. Undefined before its first piece and before `takeBody`.
   */
  #whole: boolean | undefined;
  #body: Buffer | undefined;

  /**
   * Returns the body once, if it arrived in one piece before this call; otherwise the stream
   * delivers it.
   */
  takeBody(): Buffer | undefined {
    this.#whole ??= false;
    const body = this.#body;
    this.#body = undefined;
    return body;
  }

  /** Node's parser calls this with each piece of the body, and with null at its end. */
  override push(piece: Buffer | null): boolean {
    if (piece === null) return super.push(null);
    this.#whole ??= piece.length === Number(this.headers['content-length']);
    if (!this.#whole) return super.push(piece);
    this.#body = piece;
    return true;
  }
}
