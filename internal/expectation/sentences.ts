import { describeDuration } from './duration.ts';
import type { EarlierRun, Gap, Run } from './history.ts';
import type { Finding } from './verdict.ts';
import type { Zone } from './zone.ts';

/** Maximum number of expected times that a sentence counts. */
export const mostCounted = 10;

/** A finding in words: one sentence, its facts, and one sentence about its end. */
export type Described = Pick<Finding, 'reason' | 'facts' | 'resolvedReason'>;

export interface MissedStart {
  /**
   * The expected times that passed without a run. If there are ten or more, the last is left out.
   */
  missed: readonly number[];
  graceMs: number;
  /** Set by a rule on the time between two starts. */
  everyMs: number | undefined;
  last: EarlierRun | undefined;
  next: Run | undefined;
}

export function describeMissing(zone: Zone, { missed, graceMs, everyMs, last, next }: MissedStart): Described {
  const [expected = 0] = missed;
  const reused =
    last !== undefined && (last.startCount ?? 1) > 1 && (last.lastEventAt ?? -Infinity) > expected - graceMs;
  const sentence =
    everyMs === undefined
      ? missedSchedule(zone, missed, graceMs)
      : missedInterval(zone, last?.startedAt ?? expected - everyMs, everyMs, graceMs);
  const why = reused ? `: ${describeReuse(last)}` : '';
  return {
    reason: `${sentence}${why}.`,
    facts: {
      expected_at: iso(expected),
      grace_seconds: graceMs / 1_000,
      ...(missed.length > 1 && { missed: missed.length }),
      ...factsOfLast(last),
      ...(reused && { anomaly: 'start_repeated' }),
    },
    ...(next && { resolvedReason: `The run ${next.executionId} started at ${zone.describe(next.startedAt)}.` }),
  };
}

function missedSchedule(zone: Zone, missed: readonly number[], graceMs: number): string {
  const [expected = 0] = missed;
  const within = graceMs === 0 ? 'at' : `within ${describeDuration(graceMs)} of`;
  const latest = missed.at(-1) ?? expected;
  if (missed.length === 1) return `No run started ${within} the expected time, ${zone.describe(expected)}`;
  const from = `the first ${zone.describe(expected)}, the last ${zone.describe(latest)}`;
  if (missed.length <= mostCounted) return `No run started ${within} ${missed.length} expected times, ${from}`;
  return `No run started ${within} more than ${mostCounted} expected times since ${zone.describe(expected)}`;
}

function missedInterval(zone: Zone, since: number, everyMs: number, graceMs: number): string {
  const late = graceMs === 0 ? '' : `, at most ${describeDuration(graceMs)} late`;
  const often = `one is expected every ${describeDuration(everyMs)}${late}`;
  return `No run has started since ${zone.describe(since)}; ${often}`;
}

function factsOfLast(last: EarlierRun | undefined): Described['facts'] {
  return {
    ...(last?.executionId !== undefined && { last_execution: last.executionId }),
    ...(last && { last_started_at: iso(last.startedAt) }),
  };
}

function describeReuse({ executionId, startCount }: EarlierRun): string {
  return `${startCount} STARTs came with the execution_id ${executionId}, which is one run (start_repeated)`;
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

export interface UnknownStart {
  /** The first expected time about which nothing is known. */
  expected: number;
  /** At least one. */
  gaps: readonly Gap[];
  last: EarlierRun | undefined;
  /** When it ended, if it did. */
  until: number | undefined;
}

export function describeUnknownStart(zone: Zone, { expected, gaps, last, until }: UnknownStart): Described {
  const recorded =
    last === undefined || gaps.length === 1 ? '' : `no run is recorded since ${zone.describe(last.startedAt)}, and `;
  const [first, latest] = [gaps[0], gaps.at(-1)];
  return {
    reason: `It is unknown whether a run started at the expected time, ${zone.describe(expected)}: ${recorded}${mayLack(zone, gaps)}.`,
    facts: {
      expected_at: iso(expected),
      ...(gaps.length > 1 && { gaps: gaps.length }),
      ...(first && latest && { gap_from: iso(first.from), gap_until: iso(latest.until) }),
      ...factsOfLast(last),
    },
    ...(until !== undefined && { resolvedReason: `The record was complete again at ${zone.describe(until)}.` }),
  };
}

/** A run that takes longer than allowed. */
export interface LongRun {
  run: Run;
  maxDurationMs: number;
}

export function describeOverrun(zone: Zone, { run, maxDurationMs }: LongRun): Described {
  const { executionId, startedAt, failedAt = Infinity, endedAt } = run;
  const failed = failedAt <= (endedAt ?? Infinity) && failedAt !== Infinity;
  const took = endedAt === undefined ? '' : describeDuration(endedAt - startedAt);
  const since = failed && endedAt === undefined ? `, failed at ${zone.describe(failedAt)}, and has sent no END` : '';
  return {
    reason: `The run ${executionId}, which started at ${zone.describe(startedAt)}, takes longer than ${describeDuration(maxDurationMs)}${since}.`,
    facts: factsOf(run, maxDurationMs),
    ...(endedAt !== undefined && { resolvedReason: `It ${failed ? 'failed and ended' : 'ended'} after ${took}.` }),
  };
}

export function describeUnknownEnd(zone: Zone, { run, maxDurationMs }: LongRun, gap: Gap): Described {
  return {
    reason: `It is unknown whether the run ${run.executionId} ended within ${describeDuration(maxDurationMs)}: ${mayLack(zone, [gap])}.`,
    facts: { ...factsOf(run, maxDurationMs), gap_from: iso(gap.from), gap_until: iso(gap.until) },
  };
}

function factsOf(run: Run, maxDurationMs: number): Described['facts'] {
  return { execution: run.executionId, started_at: iso(run.startedAt), max_duration_seconds: maxDurationMs / 1_000 };
}

/** A gap from before the first note of ingest begins in 1970. */
function mayLack(zone: Zone, gaps: readonly Gap[]): string {
  const latest = gaps.at(-1) ?? { from: 0, until: 0 };
  const [from, until] = zone.describeSpan(latest.from, latest.until);
  const span = latest.from === 0 ? `before ${until}` : `from ${from} to ${until}`;
  if (gaps.length === 1) return `Runledger may lack events ${span}`;
  const lengths = gaps.map((gap) => gap.until - gap.from).toSorted((a, b) => a - b);
  const length = describeDuration(lengths[Math.floor(lengths.length / 2)] ?? 0);
  return `Runledger may lack events in ${gaps.length} gaps of about ${length}, the latest ${span}`;
}

export function describeLost(zone: Zone, run: Run, lostAfterMs: number): Described {
  const { executionId, startedAt, lastEventAt } = run;
  const silent = `has sent no END, and no event since ${zone.describe(lastEventAt)}`;
  return {
    reason: `The run ${executionId}, which started at ${zone.describe(startedAt)}, ${silent}: it counts as lost.`,
    facts: {
      execution: executionId,
      started_at: iso(startedAt),
      last_event_at: iso(lastEventAt),
      lost_after_seconds: lostAfterMs / 1_000,
    },
  };
}

/** Why a run is no longer lost. */
export function describeFound(zone: Zone, { executionId, failedAt, endedAt, lastEventAt }: Run): string {
  if (failedAt !== undefined) return `The run ${executionId} failed at ${zone.describe(failedAt)}.`;
  if (endedAt !== undefined) return `The run ${executionId} ended at ${zone.describe(endedAt)}.`;
  return `The run ${executionId} sent an event again at ${zone.describe(lastEventAt)}.`;
}

export interface Failing {
  /** The latest failure, and its time. */
  run: Run;
  at: number;
  /** The rule in words, such as `The last run failed`; the run and its time follow. */
  sentence: string;
  facts: Described['facts'];
  /** When it ceased to hold, if it did. */
  until: number | undefined;
}

export function describeFailing(zone: Zone, { run, at, sentence, facts, until }: Failing): Described {
  return {
    reason: `${sentence}: ${run.executionId} at ${zone.describe(at)}.`,
    facts: { ...facts, execution: run.executionId, failed_at: iso(at) },
    ...(until !== undefined && {
      resolvedReason: `The failures were below the limit again at ${zone.describe(until)}.`,
    }),
  };
}

/** A time as an ISO 8601 text in UTC. */
export function iso(time: number): string {
  return new Date(time).toISOString();
}
