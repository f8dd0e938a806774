const dayMs = 24 * 60 * 60 * 1_000;

/** The UTC day of a time, as its midnight in ms since the Unix epoch. */
export function dayOf(time: number): number {
  return Math.floor(time / dayMs) * dayMs;
}

/** `count` days, starting at `first`. */
export function daysFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index * dayMs);
}

/** The day that is `count` days before `day`. */
export function daysBefore(day: number, count: number): number {
  return day - count * dayMs;
}

/** The next day, with which `day` ends. */
export function dayAfter(day: number): number {
  return day + dayMs;
}

/** A day as text: `2026-11-21`. */
export function isoDay(day: number): string {
  return new Date(day).toISOString().slice(0, 10);
}
