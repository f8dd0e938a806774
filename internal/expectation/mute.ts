import { readDuration } from './duration.ts';
import type { Schedules } from './schedules.ts';

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
