import { faultOfText } from '../event/stored-text.ts';
import { timeOf } from '../event/occurred-at.ts';
import { relativeTime } from '../event/relative-time.ts';
import { isUuid } from '../event/uuid.ts';
import { Fault } from './fault.ts';

/** Reads the text of a query or path parameter. */
export type Parameter<Value> = (text: string) => Value | Fault;

/** A UUID in any letter case; the value is in lower case, as the record holds it. */
export const uuid: Parameter<string> = (text) => {
  const lower = text.toLowerCase();
  return isUuid(lower) ? lower : new Fault('must be a UUID such as 123e4567-e89b-12d3-a456-426614174000');
};

/** One of some words. */
export function oneOf<Word extends string>(words: readonly Word[]): Parameter<Word> {
  return (text) => words.find((word) => word === text) ?? new Fault(`must be one of ${words.join(', ')}`);
}

/** A whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number): Parameter<number> {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,15}$/.test(text) && value >= min && value <= max) return value;
    return new Fault(`must be a whole number from ${min} to ${max}`);
  };
}

/** A SHA-256 in hexadecimal digits, as positions hold it. */
export const sha256: Parameter<string> = (text) =>
  /^[\da-f]{64}$/.test(text) ? text : new Fault('must have 64 hexadecimal digits');

/** The id of a token, the first digits of its SHA-256. */
export const tokenId: Parameter<string> = (text) =>
  /^[\da-f]{12}$/.test(text) ? text : new Fault('must have 12 hexadecimal digits');

/** `?name` or `?name=true` for true. */
export const flag: Parameter<boolean> = (text) =>
  ['', 'true', 'false'].includes(text) ? text !== 'false' : new Fault('must be true or false');

/** A text of `shortest` to `longest` Unicode characters that Postgres can hold. */
export function storableText(shortest: number, longest: number): Parameter<string> {
  return (text) => {
    if (text.length < shortest) return new Fault(`must have ${shortest} to ${longest} characters`);
    const fault = faultOfText(text, longest);
    return fault === undefined ? text : new Fault(fault);
  };
}

/** The first time that a parameter may name: the start of the year 1, in ms. */
export const firstTime = Date.parse('0001-01-01T00:00:00Z');

/**
 * A time in RFC 3339, in the years 1 to 9999 of UTC. A space counts as the `+` that many clients
 * fail to encode, and the offset needs no colon: Python's `%z` writes none.
 */
const exactTime: Parameter<Date> = (text) => {
  const written = text.replace(' ', '+').replace(/([+-]\d\d)(\d\d)$/, '$1:$2');
  const value = new Date(timeOf(written) ?? Number.NaN);
  const year = value.getUTCFullYear();
  return year >= 1 && year <= 9_999 ? value : new Fault('must be a time in RFC 3339 such as 2026-01-31T08:00:00Z');
};

/**
 * A time in RFC 3339; a date, `today` or `yesterday`, for its start in UTC; `now`; or a time ago
 * such as `24h` or `7d`.
 */
export const time: Parameter<Date> = (text) => {
  const relative = relativeTime(text);
  if (relative !== undefined) return relative;
  const value = exactTime(text);
  if (value instanceof Date) return value;
  return new Fault(`${value.detail}, a date, today, yesterday, now, or a time ago such as 24h or 7d`);
};

/** A time of the record in ISO 8601, as positions hold it: in a year that a record can have. */
export const recordedTime: Parameter<string> = (text) => {
  const value = exactTime(text);
  if (value instanceof Fault) return value;
  const year = value.getUTCFullYear();
  return year >= 1_970 && year <= 9_998 ? value.toISOString() : new Fault('must be in the years 1970 to 9998');
};

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A duration such as `90m`, `24h` or `7d`, up to `longest`; the value is in ms. */
export function duration(longest: `${number}d`): Parameter<number> {
  const most = durationOf(longest) ?? 0;
  return (text) => {
    const value = durationOf(text);
    if (value !== undefined && value > 0 && value <= most) return value;
    return new Fault(`must be a duration such as 90m, 24h or 7d, at most ${longest}`);
  };
}

function durationOf(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  return unit === undefined ? undefined : Number(count) * units[unit as keyof typeof units];
}
