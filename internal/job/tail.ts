import { stripVTControlCharacters } from 'node:util';

/** Of what a command wrote last, this much is kept, in bytes and in lines. */
export const tailBytes = 8 * 1_024;
const tailLines = 20;

/** Keeps the end of what passes by. */
export class Tail {
  #bytes: Buffer = Buffer.alloc(0);
  #isCut = false;

  add(chunk: Buffer): void {
    this.#isCut ||= this.#bytes.length + chunk.length > tailBytes;
    const joined = chunk.length >= tailBytes ? chunk : Buffer.concat([this.#bytes, chunk]);
    this.#bytes = Buffer.from(joined.subarray(-tailBytes));
  }

  /** The last lines as text: whole lines where there are several, without colours and NULs. */
  text(): string {
    return lastLines(this.#bytes, this.#isCut);
  }
}

/** The last lines of the end of an output. `isCut` says that bytes precede these. */
export function lastLines(end: Buffer, isCut: boolean): string {
  const text = stripVTControlCharacters(end.toString('utf8')).replaceAll('\0', '').trimEnd();
  const lines = text.split('\n');
  const whole = isCut && lines.length > 1 ? lines.slice(1) : lines;
  return whole.slice(-tailLines).join('\n');
}
