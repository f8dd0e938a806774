import type { DeclaredExpectation, DeclaredFailures, Expectation } from './automation.ts';
import { CronProblem, shortestInterval } from './cron.ts';
import { readDuration } from './duration.ts';
import { Fields } from './fields.ts';
import { problemOfSchedule } from './schedule.ts';
import { isTimeZone } from './zone.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const dayMs = 86_400_000;

const defaultTimeZone = 'UTC';
const mostDefaultGraceMs = 600_000;
const defaultEarlyMs = 300_000;

/** How long a run without an END may be silent before it counts as lost, unless declared; in ms. */
export const defaultLostAfterMs = 7 * dayMs;

/** Bounds of durations, in ms. An evaluation reads runs as far back as the longest one. */
const bounds = {
  every: [10 * secondMs, 366 * dayMs],
  grace: [0, 7 * dayMs],
  early: [0, dayMs],
  maxDuration: [secondMs, 31 * dayMs],
  within: [secondMs, 31 * dayMs],
  lostAfter: [60 * secondMs, 366 * dayMs],
} as const;

/** Maximum number of runs that `failures` may count. */
const mostRuns = 1_000;

/**
 * Checks expectations and collects problems in `fields`; the results are valid only without any.
 * `isKnown` skips the check of schedule and time zone, which takes milliseconds.
 */
export function readExpectation(
  fields: Fields,
  { isKnown } = { isKnown: false },
): { declared: DeclaredExpectation; expectation: Expectation } {
  fields.only(['schedule', 'every', 'timeZone', 'grace', 'early', 'maxDuration', 'failures', 'lostAfter']);
  const starts = readStarts(fields, isKnown);
  const grace = duration(fields, 'grace');
  const early = duration(fields, 'early');
  if (early !== undefined && !fields.has('schedule')) fields.problem('early', 'needs a schedule');
  const maxDuration = duration(fields, 'maxDuration');
  const failures = readFailures(fields);
  const never = fields.text('lostAfter') === 'never';
  const lostAfter = never ? undefined : duration(fields, 'lostAfter');
  const given = [
    starts?.declared,
    grace && { grace: grace.text },
    early && { early: early.text },
    maxDuration && { maxDuration: maxDuration.text },
    never && { lostAfter: 'never' },
    lostAfter && { lostAfter: lostAfter.text },
  ];
  const declared = Object.assign({}, ...given, failures && { failures: failures.declared }) as DeclaredExpectation;
  const expectation = {
    starts: starts?.expected,
    graceMs: grace?.ms ?? defaultGraceOf(starts?.expected),
    earlyMs: early?.ms ?? defaultEarlyMs,
    maxDurationMs: maxDuration?.ms,
    tellsLost: true,
    lostAfterMs: never ? undefined : (lostAfter?.ms ?? defaultLostAfterMs),
    failures: failures?.expected,
  };
  return { declared, expectation };
}

/**
 * The expectations of a declaration that was checked before, with the organization's defaults:
 * every failure and every lost run raises an alert. `silent` turns these defaults off.
 */
export function expectationOf(declared: unknown, { silent } = { silent: false }): Expectation {
  const fields = new Fields(declared, 'expect');
  const { expectation } = readExpectation(fields, { isKnown: true });
  return {
    ...expectation,
    failures: expectation.failures ?? (silent || fields.has('failures') ? undefined : everyFailure),
    tellsLost: !silent || fields.has('lostAfter'),
  };
}

const everyFailure = { kind: 'consecutive', consecutive: 1 } as const;

/** A grace as long as the interval would hide each run that is left out: the next one ends it. */
function defaultGraceOf(starts: Expectation['starts']): number {
  if (starts === undefined) return mostDefaultGraceMs;
  const intervalMs = starts.kind === 'every' ? starts.everyMs : shortestMs(starts.schedule);
  return Math.min(mostDefaultGraceMs, intervalMs / 2);
}

function shortestMs(schedule: string): number {
  try {
    return shortestInterval(schedule) * minuteMs;
  } catch (error) {
    if (!(error instanceof CronProblem)) throw error;
    return Infinity;
  }
}

type Starts = { declared: DeclaredExpectation; expected: Expectation['starts'] };

function readStarts(fields: Fields, isKnown: boolean): Starts | undefined {
  const timeZone = fields.text('timeZone');
  if (timeZone !== undefined && !isKnown && !isTimeZone(timeZone)) {
    fields.problem('timeZone', 'must be a time zone of the IANA database, such as Europe/Madrid');
  }
  const every = duration(fields, 'every');
  const schedule = fields.text('schedule');
  if (schedule !== undefined && every !== undefined) fields.problem('every', 'must not be set beside schedule');
  if (timeZone !== undefined && !fields.has('schedule')) fields.problem('timeZone', 'needs a schedule');
  if (every !== undefined) return { declared: { every: every.text }, expected: { kind: 'every', everyMs: every.ms } };
  if (schedule === undefined) {
    if (fields.has('grace') && !fields.has('every')) fields.problem('grace', 'needs a schedule, or every');
    return undefined;
  }
  const zone = timeZone ?? defaultTimeZone;
  const problem = isKnown ? undefined : problemOfSchedule(schedule);
  if (problem !== undefined) fields.problem('schedule', problem);
  return {
    declared: { schedule, ...(timeZone !== undefined && { timeZone }) },
    expected: { kind: 'schedule', schedule, timeZone: zone },
  };
}

function readFailures(fields: Fields): { declared: DeclaredFailures; expected: Expectation['failures'] } | undefined {
  const failures = fields.group('failures');
  if (failures === undefined) return undefined;
  failures.only(['consecutive', 'count', 'within', 'rate', 'of', 'never']);
  const names = failures
    .names()
    .filter((name) => failures.has(name))
    .toSorted()
    .join();
  if (names === 'consecutive') {
    const consecutive = failures.wholeNumber('consecutive', 1, mostRuns) ?? 1;
    return { declared: { consecutive }, expected: { kind: 'consecutive', consecutive } };
  }
  if (names === 'count,within') {
    const count = failures.wholeNumber('count', 1, mostRuns) ?? 1;
    const within = duration(failures, 'within') ?? { text: '', ms: 1 };
    return { declared: { count, within: within.text }, expected: { kind: 'count', count, withinMs: within.ms } };
  }
  if (names === 'of,rate') {
    const rate = failures.wholeNumber('rate', 1, 100) ?? 1;
    const of = failures.wholeNumber('of', 1, mostRuns) ?? 1;
    return { declared: { rate, of }, expected: { kind: 'rate', rate, of } };
  }
  if (names === 'never' && failures.flag('never') === true) return { declared: { never: true }, expected: undefined };
  return fields.problem(
    'failures',
    'must have either consecutive, or count and within, or rate and of, or never: true',
  );
}

function duration(fields: Fields, name: keyof typeof bounds): { text: string; ms: number } | undefined {
  const text = fields.text(name);
  if (text === undefined) return undefined;
  const ms = readDuration(text);
  const [least, most] = bounds[name];
  if (ms === undefined) return fields.problem(name, 'must be a duration such as 45s, 10m, 1h30m or 2d');
  if (ms < least) return fields.problem(name, `must be at least ${least / secondMs}s`);
  if (ms > most) return fields.problem(name, `must be at most ${most / dayMs}d`);
  return { text, ms };
}
