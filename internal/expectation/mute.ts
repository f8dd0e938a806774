import { readDuration } from './duration.ts';
import { problemOfSchedule } from './schedule.ts';
import type { Schedules } from './schedules.ts';
import { isTimeZone } from './zone.ts';

/** The shortest and longest window, in ms. */
const [shortestMs, longestMs] = [60_000, 7 * 86_400_000];

/** A time in which nobody is notified; times in ms since the Unix epoch. */
export interface Mute {
  id: string;
  /** Undefined for the whole organization. */
  automationId: string | undefined;
  madeAt: number;
  /** Undefined for a window that repeats until somebody ends it. */
  untilAt: number | undefined;
  /** When it repeats; undefined if it holds all the time. */
  window: { schedule: string; timeZone: string; duration: string } | undefined;
}

/** When a mute that holds at a time will end, in ms; undefined if it does not hold then. */
export function mutedUntil(
  { madeAt, untilAt = Infinity, window }: Omit<Mute, 'id' | 'automationId'>,
  time: number,
  schedules: Schedules,
): number | undefined {
  if (time < madeAt || time >= untilAt) return undefined;
  if (window === undefined) return untilAt;
  const begin = schedules.get(window.schedule, window.timeZone).upTo(time) ?? -Infinity;
  const end = Math.min(untilAt, begin + (readDuration(window.duration) ?? 0));
  return time < end ? end : undefined;
}

/** One sentence on why a mute cannot have this window; undefined if it can. */
export function problemOfWindow({ schedule, timeZone, duration }: NonNullable<Mute['window']>): string | undefined {
  const problem = problemOfSchedule(schedule);
  if (problem !== undefined) return `The schedule ${problem}.`;
  const lastsMs = readDuration(duration) ?? 0;
  if (lastsMs < shortestMs || lastsMs > longestMs) return 'The duration must be from 1m to 7d, such as 2h.';
  return isTimeZone(timeZone) ? undefined : 'The time zone must be a name such as Europe/Madrid.';
}
