const hourMs = 3_600_000;
const units: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: hourMs,
  d: 24 * hourMs,
  w: 7 * 24 * hourMs,
};

/** The begin of the year 1, in ms: no time is before. */
const earliest = Date.parse('0001-01-01T00:00:00Z');

/** A day and its begin, in UTC or in the time zone of this process. */
interface Days {
  dayOf(date: Date): string;
  beginOf(day: string): Date;
}

const utc: Days = {
  dayOf: (date) => date.toISOString().slice(0, 10),
  beginOf: (day) => new Date(`${day}T00:00:00Z`),
};

const local: Days = {
  dayOf: (date) => [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(twoDigits).join('-'),
  // Without a zone, that of the process.
  beginOf: (day) => new Date(`${day}T00:00:00`),
};

/**
 * The time that people write as `now`, `today`, `yesterday`, a date, or a time ago such as `90m`,
 * `24h`, `7d` or `2w`; undefined for any other text. Days begin in `zone`.
 */
export function relativeTime(text: string, zone: 'utc' | 'local', now = new Date()): Date | undefined {
  const days = zone === 'utc' ? utc : local;
  if (text === 'now') return now;
  if (text === 'today') return days.beginOf(days.dayOf(now));
  if (text === 'yesterday') return dayBefore(days, now);
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  if (count !== undefined) {
    const time = now.getTime() - Number(count) * (units[unit] ?? 0);
    return time < earliest ? undefined : new Date(time);
  }
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return undefined;
  const begin = days.beginOf(text);
  // A month may lack the day; and the year 0 is none.
  return Number.isNaN(begin.getTime()) || days.dayOf(begin) !== text || begin.getTime() < earliest ? undefined : begin;
}

/** A day of 23 or 25 hours is one day too. */
function dayBefore(days: Days, now: Date): Date {
  const noon = new Date(days.beginOf(days.dayOf(now)).getTime() - 12 * hourMs);
  return days.beginOf(days.dayOf(noon));
}

function twoDigits(part: number): string {
  return String(part).padStart(2, '0');
}
