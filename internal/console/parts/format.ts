const numbers = new Intl.NumberFormat('en');

/** A number with separators, such as `12,345`. */
export function formatNumber(value: number): string {
  return numbers.format(value);
}

/** A share in percent. Only zero is shown as 0 %, and only the whole as 100 %. */
export function formatShare(part: number, whole: number): string {
  if (whole === 0 || part === 0) return '0 %';
  const percent = (100 * part) / whole;
  if (percent < 0.1) return '< 0.1 %';
  if (percent > 99.5 && part < whole) return '> 99 %';
  return `${percent < 10 ? percent.toFixed(1).replace(/\.0$/, '') : Math.round(percent)} %`;
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** A duration in its two largest units, such as `340 ms`, `2.4 s`, `3 min 5 s`, `2 d 4 h`. */
export function formatDuration(ms: number): string {
  if (Math.round(ms) < second) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / second).toFixed(ms < 10 * second ? 2 : 1).replace(/\.?0+$/, '')} s`;
  if (ms < hour) return two(ms, minute, 'min', second, 's');
  if (ms < day) return two(ms, hour, 'h', minute, 'min');
  return two(ms, day, 'd', hour, 'h');
}

function two(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const rounded = Math.round(ms / small) * small;
  const rest = Math.floor((rounded % large) / small);
  return `${formatNumber(Math.floor(rounded / large))} ${largeName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
}

/** How long ago a time was, such as `12 s ago`. static/console.js keeps it up to date. */
export function formatAge(ms: number): string {
  if (ms < -5 * second) return `in ${oneUnit(-ms)}`;
  return ms < 2 * second ? 'just now' : `${oneUnit(ms)} ago`;
}

function oneUnit(ms: number): string {
  if (ms < minute) return `${Math.floor(ms / second)} s`;
  if (ms < hour) return `${Math.floor(ms / minute)} min`;
  if (ms < 2 * day) return `${Math.floor(ms / hour)} h`;
  return `${formatNumber(Math.floor(ms / day))} d`;
}

/** A time of the record as people read it: `2026-01-31 08:00:00.000 UTC`. */
export function formatTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 23)} UTC`;
}

/** An id without its middle if it is longer than `longest` characters. */
export function shortenId(id: string, longest = 30): string {
  const characters = Array.from(id);
  if (characters.length <= longest) return id;
  const tail = Math.floor((longest - 1) / 3);
  return `${characters.slice(0, longest - 1 - tail).join('')}…${characters.slice(-tail).join('')}`;
}

/** The first group of a UUID and its last four digits. */
export function shortenUuid(id: string): string {
  return `${id.slice(0, 8)}…${id.slice(-4)}`;
}

/** A number and its word, in the singular for 1 and in the plural otherwise. */
export function count(value: number, word: string, plural = `${word}s`): string {
  return `${formatNumber(value)} ${value === 1 ? word : plural}`;
}
