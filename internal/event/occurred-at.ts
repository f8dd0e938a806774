/** How long before and after now an event may have occurred, in ms. */
export const mostAgo = 90 * 24 * 60 * 60 * 1_000;
export const mostAhead = 5 * 60 * 1_000;

/** RFC 3339, section 5.6: a date, a time and an offset. */
const form = /^(\d{4}-\d\d-\d\d)[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** The time of an RFC 3339 text, in ms since the Unix epoch; undefined for any other text. */
export function timeOf(text: string): number | undefined {
  const date = form.exec(text)?.[1];
  if (date === undefined || !isDate(date)) return undefined;
  return Date.parse(text.toUpperCase());
}

/** False for a day that its month does not have. */
function isDate(date: string): boolean {
  const midnight = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(date);
}

/** True if an event accepted at `now` may have occurred at `time`. Both in ms. */
export function mayHaveOccurred(time: number, now: number): boolean {
  return time >= now - mostAgo && time <= now + mostAhead;
}
