import { gapWithin, type EarlierRun, type Gap, type Run } from './history.ts';
import { describeLate, describeMissing, describeUnknownStart, iso, mostCounted } from './sentences.ts';
import { startRule, type StartRule } from './start-rule.ts';
import type { Part, Question } from './question.ts';
import type { Finding } from './verdict.ts';

/** An unknown start raises an alert if it is still unknown this many expected times later. */
const periodsUntilTold = 2;

/** Finds the starts that were missing, late or unknown, in each pause between two runs. */
export function findStarts({ expectation, history, watermark, schedules }: Question): Part {
  const rule = startRule(expectation, schedules);
  if (rule === undefined) return { findings: [], nextAt: Infinity };
  const { graceMs, starts } = expectation;
  const declaredAt = Math.min(history.declaredAt.starts, ...heldSince(rule, history.told ?? []));
  const everyMs = starts?.kind === 'every' ? starts.everyMs : undefined;
  const search = { rule, graceMs, everyMs, watermark, declaredAt, gaps: history.gaps };
  const runs = history.runs.filter(({ scheduledFor }) => scheduledFor !== 'byHand');
  const pauses = runs.map((last, index) => {
    // A Job may start after Jobs of later times.
    const counted = runs.slice(Math.max(0, index - mostCounted), index + 1);
    const next = counted.map((run) => rule.next(run, declaredAt) ?? Infinity);
    return findInPause(search, Math.max(...next), last, runs[index + 1]);
  });
  if (!history.hasOlderRuns) {
    const before = history.startBefore === undefined ? undefined : { startedAt: history.startBefore };
    const first = before === undefined ? rule.first(declaredAt) : rule.next(before, declaredAt);
    pauses.unshift(findInPause(search, first ?? Infinity, before, runs[0]));
  }
  return {
    findings: pauses.flatMap(({ findings }) => findings),
    nextAt: Math.min(...pauses.map(({ nextAt }) => nextAt)),
  };
}

/** A changed rule also judges what already is an alert, if it expects the same time. */
function heldSince(rule: StartRule, told: readonly { kind: string; occurrence: string }[]): number[] {
  const missing = told.filter(({ kind }) => kind === 'missing');
  return missing.flatMap(({ occurrence }) => rule.holdsSince(Date.parse(occurrence)) ?? []);
}

interface Search {
  rule: StartRule;
  graceMs: number;
  /** Set by a rule on the time between two starts. */
  everyMs: number | undefined;
  watermark: number;
  declaredAt: number;
  gaps: readonly Gap[];
}

/**
 * The pause between two runs; `last` is undefined before the first, `next` after the last one.
 * `first` is its first expected time. It holds at most one missing start, preceded by at most one
 * unknown period: until a run starts, nothing new is found.
 */
function findInPause(search: Search, first: number, last: EarlierRun | undefined, next: Run | undefined): Part {
  const { rule, graceMs, watermark, gaps } = search;
  const start = next?.startedAt ?? Infinity;
  let expected = first;
  let unknown: number | undefined;
  while (expected + graceMs < start && expected + graceMs <= watermark) {
    const deadline = expected + graceMs;
    if (gapWithin(gaps, rule.provableFrom(expected), deadline) === undefined) {
      const before = unknown === undefined ? [] : [unknownStart(search, unknown, deadline, last)];
      const { finding, nextAt } = unmet(search, expected, last, next);
      return { findings: [...before, finding], nextAt };
    }
    unknown ??= expected;
    const gap = gaps.findLast(({ from, until }) => from <= deadline && until >= rule.provableFrom(expected));
    expected = rule.afterGap(gap?.until ?? deadline) ?? Infinity;
  }
  const known = Math.min(start, expected + graceMs);
  const nextAt = known > watermark ? known : Infinity;
  if (unknown === undefined) return { findings: [], nextAt: expected + graceMs < start ? nextAt : Infinity };
  const finding = unknownStart(search, unknown, known <= watermark ? known : undefined, last);
  const { toldFrom = Infinity } = finding;
  return { findings: [finding], nextAt: Math.min(nextAt, toldFrom > watermark ? toldFrom : Infinity) };
}

function unknownStart(
  search: Search,
  expected: number,
  until: number | undefined,
  last: EarlierRun | undefined,
): Finding {
  const { rule, graceMs, gaps, watermark } = search;
  const end = until ?? watermark;
  const within = gaps.filter((gap) => gap.from <= end && gap.until >= rule.provableFrom(expected));
  let later: number | undefined = expected;
  for (let period = 0; period < periodsUntilTold && later !== undefined; period += 1) later = rule.following(later);
  return {
    kind: 'unknown',
    occurrence: iso(expected),
    ...describeUnknownStart(rule.zone, { expected, gaps: within, last, until }),
    from: expected + graceMs,
    until,
    toldFrom: later === undefined ? Infinity : later + graceMs,
  };
}

/** Late if a run started before starts count for the next expected time; otherwise missing. */
function unmet(
  search: Search,
  expected: number,
  last: EarlierRun | undefined,
  next: Run | undefined,
): { finding: Finding; nextAt: number } {
  const { rule, graceMs, everyMs, declaredAt, watermark } = search;
  const occurrence = iso(expected);
  const start = next?.startedAt ?? Infinity;
  const counted = next === undefined ? Infinity : (rule.next(next, declaredAt) ?? Infinity);
  if (next !== undefined && (start < rule.nextFrom(expected) || counted === rule.following(expected))) {
    const described = describeLate(rule.zone, { expected, graceMs, run: next });
    const finding = { kind: 'late' as const, occurrence, ...described, from: start, until: start };
    return { finding, nextAt: start > watermark ? start : Infinity };
  }
  const missed = missedTimes(search, expected, Math.min(start, watermark));
  const described = describeMissing(rule.zone, { missed: missed.times, graceMs, everyMs, last, next });
  return {
    finding: { kind: 'missing', occurrence, ...described, from: expected + graceMs, until: next?.startedAt },
    nextAt: [start, missed.nextAt].reduce((least, at) => (at > watermark ? Math.min(least, at) : least), Infinity),
  };
}

/**
 * The expected times that passed without a run in a pause, and when the next one will have passed.
 */
function missedTimes({ rule, graceMs }: Search, first: number, until: number): { times: number[]; nextAt: number } {
  const times = [first];
  for (let time = rule.following(first); time !== undefined; time = rule.following(time)) {
    if (time + graceMs > until) return { times, nextAt: time + graceMs };
    times.push(time);
    if (times.length > mostCounted) break;
  }
  return { times, nextAt: Infinity };
}
