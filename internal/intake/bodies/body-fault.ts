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

/** The position of the first byte that is not UTF-8, counted from 1. */
function firstInvalid(bytes: Buffer): number {
  const text = bytes.toString();
  for (let at = text.indexOf('\uFFFD'); at !== -1; at = text.indexOf('\uFFFD', at + 1)) {
    const place = Buffer.byteLength(text.slice(0, at));
    // The body itself may hold the character that stands for an invalid byte.
    if (bytes.toString('hex', place, place + 3) !== 'efbfbd') return place + 1;
  }
  return bytes.length;
}
