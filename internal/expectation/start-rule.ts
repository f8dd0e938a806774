import type { Expectation } from './automation.ts';
import type { Run } from './history.ts';
import type { ExpectedTimes } from './schedule.ts';
import type { Schedules } from './schedules.ts';
import type { Zone } from './zone.ts';

/**
 * Clocks of callers and of ingest may be wrong by so much, in ms: an event of an expected time may
 * carry a time before it.
 */
const wrongClocksMs = 300_000;

/** When starts are expected; times in ms since the Unix epoch. */
export interface StartRule {
  /** The zone of sentences. */
  readonly zone: Zone;
  /** The first expected time; `declaredAt` is when the expectation began. */
  first(declaredAt: number): number | undefined;
  /** The first expected time for which this run does not count. */
  next(run: Run, declaredAt: number): number | undefined;
  /** The first expected time that is provable again after a gap of the record. */
  afterGap(until: number): number | undefined;
  /** From when on the record must be complete, to prove that a start is missing. */
  provableFrom(expected: number): number;
  /** From when on a start counts for the next expected time. */
  nextFrom(expected: number): number;
}

/** The time zone of sentences about an automation. */
export function zoneOf({ starts }: Expectation, schedules: Schedules): Zone {
  return schedules.zone(starts?.kind === 'schedule' ? starts.timeZone : 'UTC');
}

export function startRule(starts: NonNullable<Expectation['starts']>, schedules: Schedules): StartRule {
  return starts.kind === 'every'
    ? everyRule(starts.everyMs, schedules.zone('UTC'))
    : scheduleRule(schedules.get(starts.schedule, starts.timeZone));
}

/** Expects a start at most so long after the one before. */
function everyRule(everyMs: number, zone: Zone): StartRule {
  return {
    zone,
    first: (declaredAt) => declaredAt + everyMs,
    next: ({ startedAt }, declaredAt) => Math.max(startedAt, declaredAt) + everyMs,
    afterGap: (until) => until + 1 + everyMs,
    provableFrom: (expected) => expected - everyMs,
    nextFrom: () => Infinity,
  };
}

/**
 * A start counts for an expected time from the middle between it and the one before on, because
 * clocks differ. A run without START began before its first event: it counts for the time before,
 * unless the next one is near.
 */
function scheduleRule(times: ExpectedTimes): StartRule {
  const next = ({ startedAt, lacksStart }: Run): number | undefined => {
    const after = times.after(startedAt);
    const before = times.upTo(startedAt);
    if (before === undefined || after === undefined) return after;
    const middle = (before + after) / 2;
    const countsFrom = lacksStart === true ? Math.max(middle, after - wrongClocksMs) : middle;
    return startedAt >= countsFrom ? times.after(after) : after;
  };
  return {
    zone: times.zone,
    first: (declaredAt) => times.after(declaredAt - 1),
    next: (run, declaredAt) => {
      const expected = next(run);
      return expected !== undefined && expected < declaredAt ? times.after(declaredAt - 1) : expected;
    },
    afterGap: (until) => times.after(until + wrongClocksMs),
    provableFrom: (expected) => expected - wrongClocksMs,
    nextFrom: (expected) => {
      const following = times.after(expected);
      return following === undefined ? Infinity : (expected + following) / 2;
    },
  };
}
