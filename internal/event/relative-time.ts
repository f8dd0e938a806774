const hourMs = 3_600_000;
const units: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: hourMs,
  d: 24 * hourMs,
  w: 7 * 24 * hourMs,
};

/** The start of the year 1, in ms; no earlier time is accepted. */
const earliest = Date.parse('0001-01-01T00:00:00Z');

const dayOf = (date: Date): string => date.toISOString().slice(0, 10);
const beginOf = (day: string): Date => new Date(`${day}T00:00:00Z`);

/**
 * Parses a time as people write it: `now`, `today`, `yesterday`, a date, or a time ago such as
 * `90m`, `24h`, `7d` or `2w`; undefined for any other text. Days are in UTC.
 */
export function relativeTime(text: string, now = new Date()): Date | undefined {
  if (text === 'now') return now;
  if (text === 'today') return beginOf(dayOf(now));
  if (text === 'yesterday') return new Date(beginOf(dayOf(now)).getTime() - 24 * hourMs);
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  if (count !== undefined) {
    const time = now.getTime() - Number(count) * (units[unit] ?? 0);
    return time < earliest ? undefined : new Date(time);
  }
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return undefined;
  const begin = beginOf(text);
  // The month may lack the day, and there is no year 0.
  return Number.isNaN(begin.getTime()) || dayOf(begin) !== text || begin.getTime() < earliest ? undefined : begin;
}
