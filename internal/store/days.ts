const dayMs = 24 * 60 * 60 * 1_000;

/** The UTC day that holds a time, as the ms since the Unix epoch of its midnight. */
export function dayOf(time: number): number {
  return Math.floor(time / dayMs) * dayMs;
}

/** `count` days from `first` on. */
export function daysFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index * dayMs);
}

/** The day that is `count` days before `day`. */
export function daysBefore(day: number, count: number): number {
  return day - count * dayMs;
}

/** The day that follows: where `day` ends. */
export function dayAfter(day: number): number {
  return day + dayMs;
}

/** A day as people write it: `2026-11-21`. */
export function isoDay(day: number): string {
  return new Date(day).toISOString().slice(0, 10);
}
