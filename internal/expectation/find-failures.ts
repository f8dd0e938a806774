import type { Expectation } from './automation.ts';
import { describeDuration } from './duration.ts';
import type { Run } from './history.ts';
import { describeFailing, type Failing } from './sentences.ts';
import { zoneOf } from './start-rule.ts';
import type { Part, Question } from './question.ts';
import type { Finding } from './verdict.ts';

/** The one occurrence of `failing`: an automation has at most one at a time. */
export const failing = 'failing';

type Rule = NonNullable<Expectation['failures']>;

/** The outcome of a run from a time on, in ms since the Unix epoch. */
interface Outcome {
  run: Run;
  at: number;
  failed: boolean;
}

/** Finds the periods in which too many runs failed. */
export function findFailures({ expectation, history, watermark, schedules }: Question): Part {
  const { failures } = expectation;
  if (failures === undefined) return { findings: [], nextAt: Infinity };
  const wasTold = history.told?.some(({ kind }) => kind === 'failing') === true;
  const declaredAt = wasTold ? -Infinity : history.declaredAt.failures;
  const runs = [...(history.otherRuns ?? []), ...history.runs].filter(({ startedAt }) => startedAt >= declaredAt);
  const outcomes = runs.flatMap(outcomesOf).toSorted(byTime);
  const times = timesOfChange(failures, outcomes);
  const states = times
    .filter((time) => time <= watermark)
    .map((time) => ({ time, failing: failingAt(failures, outcomes, time) }));
  const zone = zoneOf(expectation, schedules);
  const findings: Finding[] = [];
  for (const [index, state] of states.entries()) {
    if (state.failing === undefined || states[index - 1]?.failing !== undefined) continue;
    const end = states.findIndex((later, at) => at > index && later.failing === undefined);
    const latest = states[end === -1 ? states.length - 1 : end - 1]?.failing ?? state.failing;
    const until = states[end]?.time;
    const described = describeFailing(zone, { ...latest, until });
    const acceptedAt = Math.max(...latest.failed.map(({ run }) => run.errorAcceptedAt ?? -Infinity));
    findings.push({ kind: 'failing', occurrence: failing, ...described, from: state.time, until, acceptedAt });
  }
  return { findings, nextAt: times.find((time) => time > watermark) ?? Infinity };
}

/**
 * A run has failed from its first ERROR on, and has succeeded with an END if no ERROR came before.
 * An ERROR after the END turns the success into a failure.
 */
function outcomesOf(run: Run): Outcome[] {
  const { failedAt = Infinity, endedAt = Infinity } = run;
  const succeeded = endedAt < failedAt ? [{ run, at: endedAt, failed: false }] : [];
  return failedAt === Infinity ? succeeded : [...succeeded, { run, at: failedAt, failed: true }];
}

function byTime(a: Outcome, b: Outcome): number {
  return a.at - b.at || (a.run.executionId < b.run.executionId ? -1 : 1);
}

/** When the rule can begin or cease to hold: an outcome becomes known, or a failure expires. */
function timesOfChange(rule: Rule, outcomes: readonly Outcome[]): number[] {
  const times = outcomes.map(({ at }) => at);
  const expiries = rule.kind === 'count' ? outcomes.filter(isFailed).map(({ at }) => at + rule.withinMs) : [];
  return [...new Set([...times, ...expiries])].toSorted((a, b) => a - b);
}

/** The failures for which the rule holds at a time; undefined if it does not hold. */
function failingAt(
  rule: Rule,
  outcomes: readonly Outcome[],
  time: number,
): (Omit<Failing, 'until'> & Pick<Count, 'failed'>) | undefined {
  const known = new Map<Run, Outcome>();
  for (const outcome of outcomes) {
    if (outcome.at > time) break;
    // The later outcome of a run moves it to a later place.
    known.delete(outcome.run);
    known.set(outcome.run, outcome);
  }
  const { sentence, failed, enough } = countFailures(rule, [...known.values()], time);
  const latest = failed.at(-1);
  return enough && latest !== undefined
    ? { run: latest.run, at: latest.at, sentence, failed, facts: { failed: failed.length } }
    : undefined;
}

interface Count {
  failed: Outcome[];
  enough: boolean;
  sentence: string;
}

/** Counts failures among the outcomes that are known at a time, in their order. */
function countFailures(rule: Rule, outcomes: readonly Outcome[], time: number): Count {
  if (rule.kind === 'consecutive') {
    const failed = outcomes.slice(outcomes.findLastIndex((outcome) => !outcome.failed) + 1);
    const several = `The last ${failed.length} runs failed, the latest of them`;
    const sentence = failed.length === 1 ? 'The last run failed' : several;
    return { failed, enough: failed.length >= rule.consecutive, sentence };
  }
  if (rule.kind === 'count') {
    const failed = outcomes.filter((outcome) => outcome.failed && outcome.at > time - rule.withinMs);
    const runs = failed.length === 1 ? 'A run failed' : `${failed.length} runs failed`;
    const sentence = `${runs} within ${describeDuration(rule.withinMs)}${failed.length === 1 ? '' : ', the latest of them'}`;
    return { failed, enough: failed.length >= rule.count, sentence };
  }
  const failed = outcomes.slice(-rule.of).filter(isFailed);
  const sentence = `${failed.length} of the last ${rule.of} runs failed, the latest of them`;
  return { failed, enough: failed.length * 100 >= rule.rate * rule.of, sentence };
}

function isFailed({ failed }: Outcome): boolean {
  return failed;
}
