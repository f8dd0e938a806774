import { RequestError } from '../../kit/errors/request-error.ts';

/** Most values of a body; in memory a value may take thirty times its bytes. */
export const mostValues = 50_000;

/** Structural characters per step, which takes about 50 µs. */
const stepSize = 4_096;

/** The range of an element or a line, in bytes. */
export type Range = readonly [from: number, to: number];

/** ASCII codes. */
export const newline = 0x0a;
const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Finds the elements of a JSON array, for a parser that takes them one by one and decides whether
 * it is JSON. Yields between short steps. Returns undefined for any other document.
 * @throws {RequestError} for more than {@link mostValues}.
 */
export function* scanArray(bytes: Buffer): Generator<undefined, Range[] | undefined> {
  const scan = new Scan(bytes);
  while (scan.step()) {
    requireFew(scan.values);
    yield;
  }
  requireFew(scan.values);
  return scan.elements;
}

/** Finds the non-blank lines of NDJSON, as {@link scanArray} does. Each blank one counts too. */
export function* scanLines(bytes: Buffer): Generator<undefined, Range[]> {
  const lines: Range[] = [];
  let values = 0;
  let blank = 0;
  for (let from = 0; from < bytes.length;) {
    const found = bytes.indexOf(newline, from);
    const to = found === -1 ? bytes.length : found;
    const scan = new Scan(bytes.subarray(from, to));
    while (scan.step()) yield;
    if (scan.isBlank) blank += 1;
    else lines.push([from, to]);
    values += scan.values;
    requireFew(values + lines.length + blank);
    from = to + 1;
    yield;
  }
  return lines;
}

/** Reads the structure of one document. */
class Scan {
  #commas = 0;
  #containers = 0;
  readonly #bytes: Buffer;
  readonly #found: Range[] = [];
  #at = 0;
  #depth = 0;
  /** The start of the current element. */
  #from = 0;
  #state: 'before' | 'array' | 'after' | 'other' = 'before';

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** False at the end. */
  step(): boolean {
    const bytes = this.#bytes;
    for (let count = 0; count < stepSize; count += 1) {
      if (this.#at >= bytes.length) return false;
      const byte = bytes[this.#at] ?? 0;
      if (!isSpace(byte)) this.#take(byte);
      this.#at = byte === quote ? endOfText(bytes, this.#at + 1) : this.#at + 1;
    }
    return true;
  }

  /** An estimate: a document may have up to twice as many. */
  get values(): number {
    return Math.max(this.#commas, this.#containers);
  }

  get isBlank(): boolean {
    return this.#state === 'before';
  }

  get elements(): Range[] | undefined {
    return this.#state === 'after' ? this.#found : undefined;
  }

  #take(byte: number): void {
    if (this.#state === 'before') this.#begin(byte);
    else if (this.#state === 'after') this.#state = 'other';
    if (byte === openArray || byte === openObject) {
      this.#depth += 1;
      this.#containers += 1;
    } else if (byte === closeArray || byte === closeObject) {
      this.#depth -= 1;
      if (this.#depth === 0 && this.#state === 'array') this.#close(byte);
    } else if (byte === comma) {
      this.#commas += 1;
      if (this.#depth === 1 && this.#state === 'array') this.#endElement();
    }
  }

  #begin(byte: number): void {
    this.#state = byte === openArray ? 'array' : 'other';
    this.#from = this.#at + 1;
  }

  #close(byte: number): void {
    const isEmpty = this.#found.length === 0 && this.#bytes.subarray(this.#from, this.#at).every(isSpace);
    if (!isEmpty) this.#endElement();
    this.#state = byte === closeArray ? 'after' : 'other';
  }

  #endElement(): void {
    this.#found.push([this.#from, this.#at]);
    this.#from = this.#at + 1;
  }
}

/** The index after the quote that ends a text. */
function endOfText(bytes: Buffer, from: number): number {
  for (let at = from; ;) {
    const end = bytes.indexOf(quote, at);
    if (end === -1) return bytes.length;
    let backslashes = 0;
    while (end - backslashes > from && bytes[end - backslashes - 1] === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return end + 1;
    at = end + 1;
  }
}

/** White space of JSON. */
function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === newline || byte === 0x0d || byte === 0x09;
}

function requireFew(values: number): void {
  if (values <= mostValues) return;
  const detail = `must not hold more than ${mostValues} values`;
  throw new RequestError('invalid-event', 'The body has too many values; see errors.', [{ pointer: '', detail }]);
}
