import type { Window } from '../record/filters.ts';
import { duration, firstTime, recordedTime, time } from './parameters.ts';
import { malformedQuery, type Values } from './query.ts';

/** The window of counts and percentiles: a duration up to now, or up to `to`. */
export const windowFilter = { window: duration('366d') } as const;
export const windowOrRange = { ...windowFilter, from: time, to: time } as const;

const defaultWindow = 24 * 3_600_000;

/** The end of the window in cursors, so that all pages share it. */
export const windowPlace = { windowEnd: recordedTime } as const;

/** The place of a row, and the end of the window. */
export type InWindow<Place> = Place & { windowEnd: string };

/**
 * The window of a request. Unless the request sets its end, it ends now, or where the first page's
 * window ended.
 * @throws {RequestError} when its start is not before its end, or is given twice.
 */
export function windowOf({ window, from, to }: Values<typeof windowOrRange>, windowEnd?: string): Window {
  const end = to ?? (windowEnd === undefined ? new Date() : new Date(windowEnd));
  if (from === undefined) return { from: before(end, window ?? defaultWindow), to: end };
  if (window !== undefined) throw malformedQuery([{ parameter: 'window', detail: 'must not be given with from' }]);
  if (from >= end) throw malformedQuery([{ parameter: 'from', detail: 'must be before the end of the window' }]);
  return { from, to: end };
}

function before(end: Date, ms: number): Date {
  return new Date(Math.max(firstTime, end.getTime() - ms));
}

/** Adds the end of the window to the place where a page ends. */
export function inWindow<Place extends object>(next: Place | undefined, { to }: Window): InWindow<Place> | undefined {
  return next === undefined ? undefined : { ...next, windowEnd: to.toISOString() };
}
