import { isUtf8 } from 'node:buffer';
import { withoutMark } from './byte-order-mark.ts';
import { jsonFault, type Place } from './json-fault.ts';

/** How bodies in other forms begin, in hexadecimal; the first match decides. */
const beginnings: readonly (readonly [RegExp, string])[] = [
  [/^(?:fffe0000|0000feff|000000|..000000)/, 'must be UTF-8: it is UTF-32'],
  [/^(?:fffe|feff|00|..00)/, 'must be UTF-8: it is UTF-16'],
  [/^1f8b/, 'must be JSON: it is compressed, so send Content-Encoding: gzip'],
  [/^28b52ffd/, 'must be JSON: it is compressed, so send Content-Encoding: zstd'],
];

/** The start of a form body (`application/x-www-form-urlencoded`). */
const percentEncoded = /^\s*%(?:7b|5b|22|0a|0d|20)/i;
const form = /^[\w.%+[\]-]{1,100}=/;

/**
 * Explains in one clause, for the caller, why bytes are no JSON document in UTF-8. Says where, and
 * quotes nothing of the body.
 */
export function bodyFault(body: Buffer): string {
  const bytes = withoutMark(body);
  return bytesFault(bytes) ?? textFault(bytes.toString());
}

/** Explains why bytes are no text in UTF-8; undefined if they are. */
export function bytesFault(bytes: Buffer): string | undefined {
  if (bytes.length === 0) return 'must not be empty';
  const start = bytes.toString('hex', 0, 4);
  const found = beginnings.find(([beginning]) => beginning.test(start));
  if (found !== undefined) return found[1];
  return isUtf8(bytes) ? undefined : `must be valid UTF-8, which byte ${firstInvalid(bytes)} is not`;
}

/** Explains why a text is no JSON document. `from`: its place in the body. */
export function textFault(text: string, from?: Place): string {
  if (text.trim() === '') return 'must not be blank';
  if (percentEncoded.test(text)) return 'must be JSON: it is percent-encoded, as in a form';
  if (form.test(text)) return 'must be JSON: it is a form';
  const fault = jsonFault(text, from);
  return fault === undefined ? 'must be valid JSON' : `must be valid JSON: ${fault}`;
}

/** Few bytes, whose characters are looked at one by one. */
const few = 16;

/**
 * The position of the first byte that is not UTF-8, counted from 1. Halves what is left: the fault
 * of 2 MiB is found in a few ms.
 */
function firstInvalid(bytes: Buffer): number {
  let [from, to] = [0, bytes.length];
  while (to - from > few) {
    const middle = startOfCharacter(bytes, Math.floor((from + to) / 2));
    if (isUtf8(bytes.subarray(from, middle))) from = middle;
    else to = middle;
  }
  const text = bytes.toString('utf8', from, to);
  for (let at = text.indexOf('\uFFFD'); at !== -1; at = text.indexOf('\uFFFD', at + 1)) {
    const place = from + Buffer.byteLength(text.slice(0, at));
    // The body itself may hold the character that stands for an invalid byte.
    if (bytes.toString('hex', place, place + 3) !== 'efbfbd') return place + 1;
  }
  return to;
}

/** The start of the character that a byte belongs to: a character has at most three more bytes. */
function startOfCharacter(bytes: Buffer, at: number): number {
  const start = [at, at - 1, at - 2, at - 3].find((place) => ((bytes[place] ?? 0) & 0xc0) !== 0x80);
  return start ?? at;
}
