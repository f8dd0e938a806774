/** A parsed cron expression of five fields. */
export interface Cron {
  minutes: readonly number[];
  hours: readonly number[];
  /** True for `*`, for `*` with a step, and for a list of all hours. */
  everyHour: boolean;
  /** True if the expression expects runs on this day. */
  isOn(day: CalendarDay): boolean;
}

/** A day of the calendar. */
export interface CalendarDay {
  year: number;
  /** 1 to 12. */
  month: number;
  /** 1 to 31. */
  day: number;
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

interface Field {
  name: string;
  min: number;
  max: number;
  /** Names of the numbers; the first stands for `min`. */
  words: readonly string[];
}

const fields = [
  { name: 'minute', min: 0, max: 59, words: [] },
  { name: 'hour', min: 0, max: 23, words: [] },
  { name: 'day of the month', min: 1, max: 31, words: [] },
  { name: 'month', min: 1, max: 12, words: months },
  { name: 'day of the week', min: 0, max: 7, words: weekdays },
] as const satisfies readonly Field[];

/** What Kubernetes and other schedulers accept in place of five fields. */
export const cronAliases: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

const [minuteField, hourField, dayField, monthField, weekdayField] = fields;

/**
 * Parses a cron expression as Vixie cron and Kubernetes do: `N/step` runs from N to the largest
 * value, and if both day fields are given, either may match. `L` is the last day of the month.
 * @throws {CronProblem} for any other text.
 */
export function readCron(text: string): Cron {
  const parts = text.split(/\s+/).filter((part) => part !== '');
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = parts;
  if (parts.length !== 5) throw new CronProblem(problemOfFields(parts));
  const lastDay = day.split(',').includes('L');
  const ofMonth = day.split(',').filter((part) => part !== 'L');
  const days = ofMonth.length === 0 ? [] : valuesOf(dayField, ofMonth.join(','));
  const inMonths = valuesOf(monthField, month);
  const onWeekdays = new Set(valuesOf(weekdayField, weekday).map((value) => value % 7));
  const either = !isStar(day) && !isStar(weekday);
  const hours = valuesOf(hourField, hour);
  return {
    minutes: valuesOf(minuteField, minute),
    hours,
    everyHour: hour.includes('*') || hour.includes('?') || hours.length === 24,
    isOn(date) {
      if (!inMonths.includes(date.month)) return false;
      const onDay = days.includes(date.day) || (lastDay && date.day === lengthOf(date));
      const onWeekday = onWeekdays.has(new Date(Date.UTC(date.year, date.month - 1, date.day)).getUTCDay());
      return either ? onDay || onWeekday : onDay && onWeekday;
    },
  };
}

/**
 * The shortest time between two expected times, in minutes, or 60 if it is longer. Of two days it
 * assumes that one follows the other.
 */
export function shortestInterval(text: string): number {
  const [minute = '', hour = ''] = text.trim().split(/\s+/);
  const [minutes, hours] = [valuesOf(minuteField, minute), valuesOf(hourField, hour)];
  const inNextHour = hours.some((value) => hours.includes((value + 1) % 24)) ? minutes.slice(0, 1) : [];
  const times = [...minutes, ...inNextHour.map((first) => first + 60)];
  return Math.min(60, ...times.slice(1).map((time, index) => time - (times[index] ?? time)));
}

/** A canonical text: the same for all expressions with the same times. */
export function meaningOfCron(text: string): string {
  const [, , day = '', month = '', weekday = ''] = text.trim().split(/\s+/);
  const { minutes, hours, everyHour } = readCron(text);
  const parts = day.split(',');
  const days = parts.filter((part) => part !== 'L');
  return JSON.stringify([
    minutes,
    hours,
    everyHour,
    [days.length === 0 ? [] : valuesOf(dayField, days.join(',')), parts.includes('L')],
    valuesOf(monthField, month),
    [...new Set(valuesOf(weekdayField, weekday).map((value) => value % 7))].toSorted((a, b) => a - b),
    isStar(day) || isStar(weekday),
  ]);
}

/** An error in a cron expression; its message completes a sentence. */
export class CronProblem extends Error {}

/** Explains why an expression does not have five fields, such as one for another scheduler. */
function problemOfFields([first = '', ...more]: readonly string[]): string {
  const alias = Object.hasOwn(cronAliases, first.toLowerCase()) ? cronAliases[first.toLowerCase()] : undefined;
  if (alias !== undefined) return `write ${first} as ${alias}`;
  if (first.toLowerCase() === '@every') return 'for an interval, set every instead, such as every: 30m';
  if (/^(?:CRON_)?TZ=/i.test(first)) return `set the zone as timeZone, not as ${first}`;
  const count = more.length + Number(first !== '');
  const seconds = count === 6 || count === 7 ? ': seconds and years are not taken' : '';
  return `it has ${count} ${count === 1 ? 'field' : 'fields'}${seconds}`;
}

function valuesOf(field: Field, text: string): number[] {
  const values = new Set(text.split(',').flatMap((part) => rangeOf(field, part)));
  return [...values].toSorted((a, b) => a - b);
}

function rangeOf(field: Field, part: string): number[] {
  const { name, min, max } = field;
  const [range = '', stepText, more] = part.split('/');
  const step = stepText === undefined ? 1 : Number(stepText);
  if (more !== undefined || (stepText !== undefined && !/^\d+$/.test(stepText))) throw unreadable(field, part);
  if (step < 1 || step > max - min) {
    throw new CronProblem(`the step of the ${name} must be from 1 to ${max - min}, not ${step}`);
  }
  const [from = '', until, rest] = range.split('-');
  if (rest !== undefined) throw unreadable(field, part);
  // A week ends on Saturday: 7 is a second name of Sunday, and no further day.
  const end = name === weekdayField.name ? 6 : max;
  if (isStar(range)) return every(min, end, step);
  const first = numberOf(field, from);
  const open = stepText === undefined ? first : Math.max(first, end);
  const last = until === undefined ? open : numberOf(field, until);
  if (last < first) throw backwards(field, range);
  return every(first, last, step);
}

function numberOf(field: Field, text: string): number {
  const { name, min, max, words } = field;
  const word = words.indexOf(text.toLowerCase());
  if (word >= 0) return min + word;
  if (!/^\d+$/.test(text)) throw unreadable(field, text);
  const value = Number(text);
  if (value < min || value > max) throw new CronProblem(`the ${name} must be from ${min} to ${max}, not ${value}`);
  return value;
}

function backwards({ name, min, max }: Field, range: string): CronProblem {
  return new CronProblem(`the ${name} ${range} ends before it begins: a range goes up, from ${min} to ${max}`);
}

function unreadable({ name, min, max, words }: Field, part: string): CronProblem {
  const or = words.length === 0 ? '' : `, or a name such as ${words[1]?.toUpperCase()}`;
  return new CronProblem(
    `the ${name} "${part}" must be a number from ${min} to ${max}, a range, a list, or * with a step${or}`,
  );
}

function every(first: number, last: number, step: number): number[] {
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, index) => first + index * step);
}

function isStar(text: string): boolean {
  return text === '*' || text === '?' || text === '*/1';
}

function lengthOf({ year, month }: CalendarDay): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}
