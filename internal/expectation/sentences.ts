import { describeDuration } from './duration.ts';
import type { Gap, Run } from './history.ts';
import type { Finding } from './verdict.ts';
import type { Zone } from './zone.ts';

/** A finding in words: one sentence, the facts, and one sentence about its end. */
export type Described = Pick<Finding, 'reason' | 'facts' | 'resolvedReason'>;

export interface MissedStart {
  expected: number;
  graceMs: number;
  last: Run | undefined;
  next: Run | undefined;
}

export function describeMissing(zone: Zone, { expected, graceMs, last, next }: MissedStart): Described {
  const within = graceMs === 0 ? 'at' : `within ${describeDuration(graceMs)} of`;
  return {
    reason: `No run started ${within} the expected time, ${zone.describe(expected)}.`,
    facts: {
      expected_at: iso(expected),
      grace_seconds: graceMs / 1_000,
      ...(last && { last_execution: last.executionId, last_started_at: iso(last.startedAt) }),
    },
    ...(next && { resolvedReason: `The run ${next.executionId} started at ${zone.describe(next.startedAt)}.` }),
  };
}

export function describeLate(
  zone: Zone,
  { expected, graceMs, run }: { expected: number; graceMs: number; run: Run },
): Described {
  const sentence = `The run ${run.executionId} started ${describeDuration(run.startedAt - expected)} after the expected time`;
  return {
    reason: `${sentence}, ${zone.describe(expected)}; ${describeDuration(graceMs)} are allowed.`,
    facts: {
      expected_at: iso(expected),
      grace_seconds: graceMs / 1_000,
      execution: run.executionId,
      started_at: iso(run.startedAt),
    },
    resolvedReason: `The run ${run.executionId} started late, at ${zone.describe(run.startedAt)}.`,
  };
}

export function describeUnknownStart(zone: Zone, expected: number, gap: Gap): Described {
  return {
    reason: `It is unknown whether a run started at the expected time, ${zone.describe(expected)}: ${mayLack(zone, gap)}.`,
    facts: { expected_at: iso(expected), gap_from: iso(gap.from), gap_until: iso(gap.until) },
  };
}

/** A run that took longer than it may, until `end`. */
export interface LongRun {
  run: Run;
  maxDurationMs: number;
  end: number;
}

export function describeOverrun(zone: Zone, { run, maxDurationMs, end }: LongRun): Described {
  const started = `started at ${zone.describe(run.startedAt)}`;
  const ended =
    run.finishedAt === end
      ? `It ${run.failed ? 'failed' : 'ended'} after ${describeDuration(end - run.startedAt)}.`
      : 'It had not ended a day later, and counts as abandoned.';
  return {
    reason: `The run ${run.executionId}, which ${started}, takes longer than ${describeDuration(maxDurationMs)}.`,
    facts: factsOf(run, maxDurationMs),
    resolvedReason: ended,
  };
}

export function describeUnknownEnd(zone: Zone, { run, maxDurationMs }: LongRun, gap: Gap): Described {
  return {
    reason: `It is unknown whether the run ${run.executionId} ended within ${describeDuration(maxDurationMs)}: ${mayLack(zone, gap)}.`,
    facts: { ...factsOf(run, maxDurationMs), gap_from: iso(gap.from), gap_until: iso(gap.until) },
  };
}

function factsOf(run: Run, maxDurationMs: number): Described['facts'] {
  return { execution: run.executionId, started_at: iso(run.startedAt), max_duration_seconds: maxDurationMs / 1_000 };
}

function mayLack(zone: Zone, gap: Gap): string {
  return `Runledger may lack events from ${zone.describe(gap.from)} to ${zone.describe(gap.until)}`;
}

export interface Failing {
  /** The latest failure. */
  run: Run;
  /** The rule that holds: `The last run failed`. The run and its time follow. */
  sentence: string;
  facts: Described['facts'];
  /** The time at which it no longer held, if it is over. */
  until: number | undefined;
}

export function describeFailing(zone: Zone, { run, sentence, facts, until }: Failing): Described {
  const at = run.finishedAt ?? run.startedAt;
  return {
    reason: `${sentence}: ${run.executionId} at ${zone.describe(at)}.`,
    facts: { ...facts, execution: run.executionId, failed_at: iso(at) },
    ...(until !== undefined && {
      resolvedReason: `The failures were below the limit again at ${zone.describe(until)}.`,
    }),
  };
}

/** A time as a text in UTC. */
export function iso(time: number): string {
  return new Date(time).toISOString();
}
