import type { Expectation } from './automation.ts';
import { describeDuration } from './duration.ts';
import type { Run } from './history.ts';
import { describeFailing, type Failing } from './sentences.ts';
import { zoneOf } from './start-rule.ts';
import type { Part, Question } from './question.ts';
import type { Finding } from './verdict.ts';

/** The occurrence of failing: an automation fails once at a time. */
export const failing = 'failing';

type Rule = NonNullable<Expectation['failures']>;
type FinishedRun = Run & { finishedAt: number };

/** Finds the times in which too many runs failed. */
export function findFailures({ expectation, history, watermark, schedules }: Question): Part {
  const { failures } = expectation;
  if (failures === undefined) return { findings: [], nextAt: Infinity };
  const finished = history.runs.filter(
    (run): run is FinishedRun => run.finishedAt !== undefined && run.startedAt >= history.declaredAt,
  );
  const times = timesOfChange(failures, finished);
  const states = times
    .filter((time) => time <= watermark)
    .map((time) => ({ time, failing: failingAt(failures, finished, time) }));
  const zone = zoneOf(expectation, schedules);
  const findings: Finding[] = [];
  for (const [index, state] of states.entries()) {
    if (state.failing === undefined || states[index - 1]?.failing !== undefined) continue;
    const end = states.findIndex((later, at) => at > index && later.failing === undefined);
    const latest = states[end === -1 ? states.length - 1 : end - 1]?.failing ?? state.failing;
    const until = states[end]?.time;
    const described = describeFailing(zone, { ...latest, until });
    findings.push({ kind: 'failing', occurrence: failing, ...described, from: state.time, until });
  }
  return { findings, nextAt: times.find((time) => time > watermark) ?? Infinity };
}

/** When the rule can begin or cease to hold: when a run ends, or a failure is too old to count. */
function timesOfChange(rule: Rule, finished: readonly FinishedRun[]): number[] {
  const times = finished.map(({ finishedAt }) => finishedAt);
  const expiries = rule.kind === 'count' ? finished.filter(isFailed).map((run) => run.finishedAt + rule.withinMs) : [];
  return [...new Set([...times, ...expiries])].toSorted((a, b) => a - b);
}

/** How the rule holds at a time; undefined if it does not. */
function failingAt(rule: Rule, finished: readonly FinishedRun[], time: number): Omit<Failing, 'until'> | undefined {
  const runs = finished.filter(({ finishedAt }) => finishedAt <= time);
  const { sentence, failed, enough } = countFailures(rule, runs, time);
  const run = failed.toSorted((a, b) => a.finishedAt - b.finishedAt).at(-1);
  return enough && run !== undefined ? { run, sentence, facts: { failed: failed.length } } : undefined;
}

interface Count {
  failed: FinishedRun[];
  enough: boolean;
  sentence: string;
}

/** Counts failures among the runs that have ended by a time, in the order of their starts. */
function countFailures(rule: Rule, runs: readonly FinishedRun[], time: number): Count {
  if (rule.kind === 'consecutive') {
    const failed = runs.slice(runs.findLastIndex((run) => !run.failed) + 1);
    const several = `The last ${failed.length} runs failed, the latest of them`;
    const sentence = failed.length === 1 ? 'The last run failed' : several;
    return { failed, enough: failed.length >= rule.consecutive, sentence };
  }
  if (rule.kind === 'count') {
    const failed = runs.filter((run) => run.failed && run.finishedAt > time - rule.withinMs);
    const sentence = `${failed.length} runs failed within ${describeDuration(rule.withinMs)}, the latest of them`;
    return { failed, enough: failed.length >= rule.count, sentence };
  }
  const failed = runs.slice(-rule.of).filter(isFailed);
  const sentence = `${failed.length} of the last ${rule.of} runs failed, the latest of them`;
  return { failed, enough: failed.length * 100 >= rule.rate * rule.of, sentence };
}

function isFailed({ failed }: Run): boolean {
  return failed;
}
