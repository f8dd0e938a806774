import type { DeclaredExpectation } from '../expectation/automation.ts';
import { readDuration } from '../expectation/duration.ts';
import { Schedule } from '../expectation/schedule.ts';
import { Zone } from '../expectation/zone.ts';
import type { Run } from '../record/newest-runs.ts';
import { windows, type AutomationWindow } from './windows.ts';

/** Number of runs from which the rhythm of an automation is derived. */
export const runsForRhythm = 20;

/** Minimum number of runs in a window, so that a chart shows more than a dot. */
const enough = 8;

/**
 * The usual time between two starts, in ms: as observed, or else as declared. Undefined if neither
 * is known.
 */
export function intervalOf(runs: readonly Run[], expect: DeclaredExpectation | null, now: number): number | undefined {
  const begins = runs.map(({ first_event_at }) => Date.parse(first_event_at));
  const gaps = begins.slice(1).map((begin, index) => (begins[index] ?? begin) - begin);
  const median = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)];
  if (gaps.length >= 2) return median;
  if (expect?.every !== undefined) return readDuration(expect.every);
  if (expect?.schedule === undefined) return median;
  const schedule = new Schedule(expect.schedule, new Zone(expect.timeZone ?? 'UTC'));
  const next = schedule.after(now);
  const then = next === undefined ? undefined : schedule.after(next);
  return next === undefined || then === undefined ? undefined : then - next;
}

/** The shortest window with enough runs. */
export function windowFor(intervalMs: number | undefined): AutomationWindow {
  if (intervalMs === undefined) return '24h';
  const names = Object.keys(windows) as AutomationWindow[];
  return names.find((name) => windows[name].ms / intervalMs >= enough) ?? '365d';
}
