import { gapWithin, type Gap, type Run } from './history.ts';
import { describeLate, describeMissing, describeUnknownStart, iso } from './sentences.ts';
import { startRule, type StartRule } from './start-rule.ts';
import type { Part, Question } from './question.ts';
import type { Finding } from './verdict.ts';

/** Finds starts that were missing, late or unknown, in each pause between two runs. */
export function findStarts({ expectation, history, watermark, schedules }: Question): Part {
  const { starts, graceMs } = expectation;
  if (starts === undefined) return { findings: [], nextAt: Infinity };
  const search = { rule: startRule(starts, schedules), graceMs, watermark, ...history };
  const { runs, hasOlderRuns } = history;
  const pauses = runs.map((last, index) => findInPause(search, last, runs[index + 1]));
  if (!hasOlderRuns) pauses.unshift(findInPause(search, undefined, runs[0]));
  return {
    findings: pauses.flatMap(({ findings }) => findings),
    nextAt: Math.min(...pauses.map(({ nextAt }) => nextAt)),
  };
}

interface Search {
  rule: StartRule;
  graceMs: number;
  watermark: number;
  declaredAt: number;
  gaps: readonly Gap[];
}

/**
 * The pause between two runs; undefined before the first and after the last one. It has one missing
 * start at most: while none comes, nothing new is known.
 */
function findInPause(search: Search, last: Run | undefined, next: Run | undefined): Part {
  const { rule, graceMs, watermark, declaredAt, gaps } = search;
  const findings: Finding[] = [];
  const start = next?.startedAt ?? Infinity;
  let expected = last === undefined ? rule.first(declaredAt) : rule.next(last, declaredAt);
  while (expected !== undefined && expected + graceMs < start) {
    const deadline: number = expected + graceMs;
    if (deadline > watermark) return { findings, nextAt: deadline };
    const gap = gapWithin(gaps, rule.provableFrom(expected), deadline);
    if (gap === undefined) {
      findings.push(unmet(search, expected, last, next));
      return { findings, nextAt: start > watermark ? start : Infinity };
    }
    const provable = rule.afterGap(gap.until);
    const known = Math.min(start, provable === undefined ? Infinity : provable + graceMs);
    findings.push({
      kind: 'unknown',
      occurrence: iso(expected),
      ...describeUnknownStart(rule.zone, expected, gap),
      from: deadline,
      until: known <= watermark ? known : undefined,
    });
    expected = provable;
  }
  return { findings, nextAt: Infinity };
}

/** Late, if a run started before the next expected time is nearer; otherwise missing. */
function unmet(search: Search, expected: number, last: Run | undefined, next: Run | undefined): Finding {
  const { rule, graceMs } = search;
  const occurrence = iso(expected);
  if (next !== undefined && next.startedAt < rule.nextFrom(expected)) {
    const described = describeLate(rule.zone, { expected, graceMs, run: next });
    return { kind: 'late', occurrence, ...described, from: next.startedAt, until: next.startedAt };
  }
  return {
    kind: 'missing',
    occurrence,
    ...describeMissing(rule.zone, { expected, graceMs, last, next }),
    from: expected + graceMs,
    until: next?.startedAt,
  };
}
