/** The end of a text, and how many characters preceded it. */
export interface TextEnd {
  readonly text: string;
  readonly cut: number;
}

/** Keeps the last bytes of a body that arrives in pieces. */
export class BodyEnd {
  readonly #limit: number;
  readonly #pieces: Buffer[] = [];
  #length = 0;
  /** The first two bytes of all pieces, by which Windows programs mark UTF-16. */
  #mark = '';
  /** Bytes and characters dropped before the kept pieces. */
  #dropped = 0;
  #cut = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(piece: Buffer): void {
    if (this.#mark.length < 4) this.#mark += piece.toString('hex', 0, 2 - this.#mark.length / 2);
    this.#pieces.push(piece);
    this.#length += piece.length;
    let [first] = this.#pieces;
    while (first !== undefined && this.#length - first.length >= this.#limit) {
      this.#drop(first);
      this.#pieces.shift();
      this.#length -= first.length;
      [first] = this.#pieces;
    }
  }

  /** The last bytes as text, starting at a whole character. */
  end(): TextEnd {
    const bytes = Buffer.concat(this.#pieces);
    let from = Math.max(0, bytes.length - this.#limit);
    const encoding = this.#encoding();
    if (from + this.#dropped > 0) {
      if (encoding === 'utf-8') while (from < bytes.length && isContinuation(bytes[from])) from += 1;
      else from += (from + this.#dropped) % 2;
    }
    this.#drop(bytes.subarray(0, from));
    // After a cut, a byte order mark is a character of the text.
    const ignoreBOM = this.#dropped > 0;
    return { text: new TextDecoder(encoding, { ignoreBOM }).decode(bytes.subarray(from)), cut: this.#cut };
  }

  #encoding(): 'utf-8' | 'utf-16le' | 'utf-16be' {
    if (this.#mark === 'fffe') return 'utf-16le';
    return this.#mark === 'feff' ? 'utf-16be' : 'utf-8';
  }

  #drop(bytes: Buffer): void {
    this.#dropped += bytes.length;
    if (this.#encoding() !== 'utf-8') this.#cut += bytes.length / 2;
    else for (const byte of bytes) if (!isContinuation(byte)) this.#cut += 1;
  }
}

/** True for a byte of UTF-8 that does not start a character. */
function isContinuation(byte = 0): boolean {
  return (byte & 0xc0) === 0x80;
}
