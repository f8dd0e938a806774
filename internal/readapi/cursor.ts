import { hash } from 'node:crypto';
import { Fault } from './fault.ts';
import type { Parameter } from './parameters.ts';

/** What a cursor belongs to. It is invalid anywhere else. */
export interface CursorScope {
  readonly endpoint: string;
  readonly organization: string;
  /** The filters of the request, in one text. */
  readonly filters: string;
}

/** The parsers of a place in a list: the sort key of a row, or a position of a stream. */
export type PlaceTable<Place> = { readonly [Name in keyof Place]: Parameter<string> };

/** Bytes of the digest in a cursor. */
const digestBytes = 12;

/**
 * Encodes a place as a cursor: a digest of the place and its scope, and the place as JSON. The
 * digest detects mistakes. It needs no secret, since every query is bound to the token's
 * organization.
 */
export function encodeCursor(place: object, scope: CursorScope): string {
  const text = JSON.stringify(place);
  return Buffer.concat([digestOf(text, scope), Buffer.from(text)]).toString('base64url');
}

/**
 * Decodes a cursor. Returns undefined if it was changed, or belongs to another endpoint,
 * organization or filter.
 */
export function decodeCursor<Place extends object>(
  cursor: string,
  table: PlaceTable<Place>,
  scope: CursorScope,
): Place | undefined {
  const bytes = Buffer.from(cursor, 'base64url');
  const text = bytes.subarray(digestBytes).toString();
  const whole = bytes.toString('base64url') === cursor;
  if (!whole || !bytes.subarray(0, digestBytes).equals(digestOf(text, scope))) return undefined;
  const place = parsed(text);
  const readers = Object.entries<Parameter<string>>(table);
  const values = readers.map(([name, read]) => {
    const text = Object.hasOwn(place, name) ? place[name] : undefined;
    return [name, typeof text === 'string' ? read(text) : new Fault('must be a text')] as const;
  });
  if (values.some(([, value]) => value instanceof Fault)) return undefined;
  return Object.fromEntries(values) as Place;
}

function digestOf(place: string, { endpoint, organization, filters }: CursorScope): Buffer {
  const text = JSON.stringify([endpoint, organization, filters, place]);
  return hash('sha256', text, 'buffer').subarray(0, digestBytes);
}

/** The digest matched, so this is JSON unless somebody made the cursor by hand. */
function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
