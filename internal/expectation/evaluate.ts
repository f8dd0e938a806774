import type { Expectation } from './automation.ts';
import { findFailures } from './find-failures.ts';
import { findLost } from './find-lost.ts';
import { findOverruns } from './find-overruns.ts';
import { findStarts } from './find-starts.ts';
import type { History, Run } from './history.ts';
import type { Schedules } from './schedules.ts';
import type { Finding, Verdict } from './verdict.ts';

/** Maximum number of verdicts of one kind per automation; the newest are kept. */
const mostVerdicts = 20;

/** The outcome of an evaluation. */
export interface Evaluation {
  /** Every expectation that was not met, oldest first, even if that is over or its end is known. */
  findings: Finding[];
  /** What is not met at the watermark. */
  verdicts: Verdict[];
  /**
   * The next watermark at which verdicts can change without new events; Infinity if there is none.
   */
  nextAt: number;
}

/**
 * Compares the history with the expectations, up to the watermark. The result depends on nothing
 * else: not on the order of runs or gaps, and on earlier evaluations only through open alerts.
 * Events after the watermark can only end a finding: a run that has started by now is not missing.
 */
export function evaluate(
  expectation: Expectation,
  history: History,
  watermark: number,
  schedules: Schedules,
): Evaluation {
  const runs = history.runs.toSorted(byStart);
  const gaps = history.gaps.toSorted((a, b) => a.from - b.from || a.until - b.until);
  const question = { expectation, history: { ...history, runs, gaps }, watermark, schedules };
  const parts = [findStarts(question), findOverruns(question), findFailures(question), findLost(question)];
  const findings = parts.flatMap((part) => part.findings).toSorted((a, b) => a.from - b.from);
  return {
    findings,
    verdicts: fewOfEach(findings.filter((finding) => holds(finding, runs, watermark))).map((finding) =>
      toVerdict(finding, watermark),
    ),
    nextAt: Math.min(...parts.map((part) => part.nextAt)),
  };
}

/** An automation that sends no END may have thousands of lost runs. */
function fewOfEach(findings: readonly Finding[]): Finding[] {
  return [...Map.groupBy(findings, ({ kind }) => kind).values()].flatMap((same) => same.slice(-mostVerdicts));
}

/** A verdict on a late start holds until the next run starts. */
function holds({ kind, from, until }: Finding, runs: readonly Run[], watermark: number): boolean {
  if (kind !== 'late') return until === undefined;
  return from <= watermark && !runs.some(({ startedAt }) => startedAt > from && startedAt <= watermark);
}

function toVerdict({ kind, occurrence, reason, facts, from, toldFrom = from }: Finding, watermark: number): Verdict {
  const told = kind !== 'late' && toldFrom <= watermark;
  return { kind, occurrence, reason, facts, since: new Date(from).toISOString(), told };
}

function byStart(a: Run, b: Run): number {
  return a.startedAt - b.startedAt || (a.executionId < b.executionId ? -1 : 1);
}
