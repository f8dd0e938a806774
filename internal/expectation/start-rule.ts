import type { Expectation } from './automation.ts';
import type { Run } from './history.ts';
import type { ExpectedTimes } from './schedule.ts';
import type { Schedules } from './schedules.ts';
import type { Zone } from './zone.ts';

/**
 * Clocks of callers and of ingest may be wrong by so much, in ms: an event of an expected time may
 * carry a time before it.
 */
export const wrongClocksMs = 300_000;

/** When starts are expected; times in ms since the Unix epoch. */
export interface StartRule {
  /** The zone of sentences. */
  readonly zone: Zone;
  /** The first expected time; `declaredAt` is when the expectation began. */
  first(declaredAt: number): number | undefined;
  /** The first expected time for which this run does not count. */
  next(run: Run, declaredAt: number): number | undefined;
  /** The expected time after this one, while no run starts. */
  following(expected: number): number | undefined;
  /** The first expected time that is provable again after a gap of the record. */
  afterGap(until: number): number | undefined;
  /** From when on the record must be complete, to prove that a start is missing. */
  provableFrom(expected: number): number;
  /** From when on a start counts for the next expected time. */
  nextFrom(expected: number): number;
  /** Since when the rule must hold for a time that was told; undefined if it is not expected. */
  holdsSince(told: number): number | undefined;
}

/** The time zone of sentences about an automation. */
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
 * A start counts for the expected time before it, and for the next one only if that is near: within
 * `earlyMs`, and within half of the interval. A Job counts for the time of its schedule.
 */
function scheduleRule(times: ExpectedTimes, earlyMs: number): StartRule {
  const leadMs = (before: number | undefined, after: number, mostMs: number): number =>
    before === undefined ? mostMs : Math.min(mostMs, (after - before) / 2);
  const nextOf = ({ startedAt, lacksStart, scheduledFor }: Run): number | undefined => {
    const start = typeof scheduledFor === 'number' ? scheduledFor : startedAt;
    const after = times.after(start);
    if (after === undefined) return undefined;
    // Without START it began before its first event: no reason to count it for a later time.
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
