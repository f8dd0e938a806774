import { sql, type RawBuilder } from 'kysely';

/*
 * Arrays as parameters in Postgres' binary format (`array_recv` and each type's own `recv`). As
 * text, each element would be quoted here and parsed there.
 * https://www.postgresql.org/docs/current/protocol-overview.html#PROTOCOL-FORMAT-CODES
 */

/** The object ids of the types of elements, from Postgres' `pg_type.dat`. */
const types = { boolean: 16, bytea: 17, text: 25, timestamptz: 1_184, uuid: 2_950 } as const;

/** Dimensions, a flag for nulls, the type, and the length and lower bound of the one dimension. */
const headerBytes = 20;
/** Before each element: its length in bytes, or -1 for null. */
const lengthBytes = 4;

const timeBytes = 8;
const uuidBytes = 16;
const millisecondsIn2000 = Date.UTC(2000, 0, 1);

/** Texts, as `text[]`. */
export function textArray(values: readonly (string | null)[]): RawBuilder<unknown> {
  const lengths = values.map((value) => (value === null ? -1 : Buffer.byteLength(value)));
  const bytes = lengths.reduce((sum, length) => sum + Math.max(length, 0), 0);
  const array = startArray('text', values.length, bytes);
  let at = headerBytes;
  for (let place = 0; place < values.length; place += 1) {
    at = array.writeInt32BE(lengths[place] ?? -1, at);
    at += array.write(values[place] ?? '', at);
  }
  return sql`${array}::text[]`;
}

/** Byte strings, as `bytea[]`. */
export function bytesArray(values: readonly Uint8Array[]): RawBuilder<unknown> {
  const array = startArray(
    'bytea',
    values.length,
    values.reduce((sum, { length }) => sum + length, 0),
  );
  let at = headerBytes;
  for (const value of values) {
    at = array.writeInt32BE(value.length, at);
    array.set(value, at);
    at += value.length;
  }
  return sql`${array}::bytea[]`;
}

/** Truth values, as `boolean[]`. */
export function booleanArray(values: readonly boolean[]): RawBuilder<unknown> {
  const array = startArray('boolean', values.length, values.length);
  let at = headerBytes;
  for (const value of values) {
    at = array.writeInt32BE(1, at);
    at = array.writeUInt8(Number(value), at);
  }
  return sql`${array}::boolean[]`;
}

/** Times in ms since the Unix epoch, as `timestamptz[]`. */
export function timeArray(values: readonly (number | null)[]): RawBuilder<unknown> {
  const times = values.reduce<number>((sum, value) => sum + Number(value !== null), 0);
  const array = startArray('timestamptz', values.length, times * timeBytes);
  let at = headerBytes;
  for (const value of values) {
    at = array.writeInt32BE(value === null ? -1 : timeBytes, at);
    if (value !== null) at = writeTime(array, at, value);
  }
  return sql`${array}::timestamptz[]`;
}

/** Microseconds since the year 2000, as `timestamptz_recv` reads them: too many for a number. */
function writeTime(array: Buffer, at: number, milliseconds: number): number {
  return array.writeBigInt64BE(BigInt(Math.round(milliseconds) - millisecondsIn2000) * 1_000n, at);
}

/** UUIDs in any case, as `uuid[]`. Postgres sees any other text as it is, and refuses it. */
export function uuidArray(values: readonly string[]): RawBuilder<unknown> {
  // All digits at once, each UUID after its length.
  const digits = values.map((value) => `00000010${value}`).join('');
  const elements = Buffer.from(digits.replaceAll('-', ''), 'hex');
  // A digit that is none ends the bytes early.
  const isWhole = elements.length === values.length * (lengthBytes + uuidBytes) && values.every(hasFormOfUuid);
  if (!isWhole) return sql`${textArray(values)}::uuid[]`;
  const array = startArray('uuid', values.length, values.length * uuidBytes);
  array.set(elements, headerBytes);
  return sql`${array}::uuid[]`;
}

function hasFormOfUuid(value: string): boolean {
  return value.length === 36 && [8, 13, 18, 23].every((place) => value[place] === '-');
}

/** An array of one dimension, counted from 1, that may hold nulls. `bytes`: of its elements. */
function startArray(type: keyof typeof types, length: number, bytes: number): Buffer {
  const array = Buffer.allocUnsafe(headerBytes + length * lengthBytes + bytes);
  [1, 1, types[type], length, 1].reduce((at, value) => array.writeInt32BE(value, at), 0);
  return array;
}
