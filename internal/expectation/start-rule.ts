import type { Expectation } from './automation.ts';
import type { EarlierRun } from './history.ts';
import type { ExpectedTimes } from './schedule.ts';
import type { Schedules } from './schedules.ts';
import type { Zone } from './zone.ts';

/**
 * How wrong the clocks of producers and of ingest may be, in ms: an event that belongs to an
 * expected time may carry an earlier time.
 */
export const wrongClocksMs = 300_000;

/** When starts are expected; times in ms since the Unix epoch. */
export interface StartRule {
  /** The time zone for sentences. */
  readonly zone: Zone;
  /** The first expected time; `declaredAt` is when the expectation began. */
  first(declaredAt: number): number | undefined;
  /** The first expected time that this run does not count for. */
  next(run: EarlierRun, declaredAt: number): number | undefined;
  /** The expected time after this one, while no run starts. */
  following(expected: number): number | undefined;
  /** The first expected time that is provable again after a gap in the record. */
  afterGap(until: number): number | undefined;
  /** The time from which the record must be complete to prove that a start is missing. */
  provableFrom(expected: number): number;
  /** The time from which a start counts for the next expected time. */
  nextFrom(expected: number): number;
  /**
   * Since when the rule must hold to judge a time that is an alert already; undefined if the rule
   * does not expect that time.
   */
  holdsSince(told: number): number | undefined;
}

/** The time zone for sentences about an automation. */
export function zoneOf({ starts }: Expectation, schedules: Schedules): Zone {
  return schedules.zone(starts?.kind === 'schedule' ? starts.timeZone : 'UTC');
}

export function startRule({ starts, earlyMs }: Expectation, schedules: Schedules): StartRule | undefined {
  if (starts === undefined) return undefined;
  return starts.kind === 'every'
    ? everyRule(starts.everyMs, schedules.zone('UTC'))
    : scheduleRule(schedules.get(starts.schedule, starts.timeZone), earlyMs);
}

/** Expects a start within a fixed time of the one before. */
function everyRule(everyMs: number, zone: Zone): StartRule {
  return {
    zone,
    first: (declaredAt) => declaredAt + everyMs,
    next: ({ startedAt }, declaredAt) => Math.max(startedAt, declaredAt) + everyMs,
    following: (expected) => expected + everyMs,
    afterGap: (until) => until + 1 + everyMs,
    provableFrom: (expected) => expected - everyMs,
    nextFrom: () => Infinity,
    holdsSince: (told) => told - everyMs,
  };
}

/**
 * A start counts for the expected time before it, or for the next one if that is near: within
 * `earlyMs` and within half of the interval. A Job counts for the time of its schedule.
 */
function scheduleRule(times: ExpectedTimes, earlyMs: number): StartRule {
  const leadMs = (before: number | undefined, after: number, mostMs: number): number =>
    before === undefined ? mostMs : Math.min(mostMs, (after - before) / 2);
  const nextOf = ({ startedAt, lacksStart, scheduledFor }: EarlierRun): number | undefined => {
    const start = typeof scheduledFor === 'number' ? scheduledFor : startedAt;
    const after = times.after(start);
    if (after === undefined) return undefined;
    // Without a START, the run began before its first event, so only wrong clocks excuse an early
    // one.
    const mostMs = lacksStart === true ? Math.min(earlyMs, wrongClocksMs) : earlyMs;
    return start >= after - leadMs(times.upTo(start), after, mostMs) ? times.after(after) : after;
  };
  const unprovenMs = Math.max(earlyMs, wrongClocksMs);
  return {
    zone: times.zone,
    first: (declaredAt) => times.after(declaredAt - 1),
    next: (run, declaredAt) => {
      const expected = nextOf(run);
      return expected !== undefined && expected < declaredAt ? times.after(declaredAt - 1) : expected;
    },
    following: (expected) => times.after(expected),
    afterGap: (until) => times.after(until + unprovenMs),
    provableFrom: (expected) => expected - unprovenMs,
    nextFrom: (expected) => {
      const following = times.after(expected);
      return following === undefined ? Infinity : following - leadMs(expected, following, earlyMs);
    },
    holdsSince: (told) => (times.upTo(told) === told ? told : undefined),
  };
}
