import type { Alert, Transition } from '../../../internal/expectation/transition.ts';
import {
  failingSpans,
  overruns,
  unmetTimes,
  type OwnersLimit,
  type OwnersRules,
  type RecordedRun,
  type Span,
} from './owner.ts';

const minuteMs = 60_000;

/** What was declared of an automation during the week, and when it was edited. */
export interface Declarations {
  /** One for each meaning of the rule on starts. */
  starts: OwnersRules[];
  limits: OwnersLimit[];
  /** So many failures in a row, since when. */
  failures: { since: number; inARow: number }[];
}

/** What an automation did, and what was said of it. */
export interface Week {
  automationId: string;
  declared: Declarations;
  runs: readonly RecordedRun[];
  gaps: readonly Span[];
  told: readonly Transition[];
  until: number;
}

/**
 * Ticks may be this late, in ms: a rule that was edited meanwhile says nothing of what it did not
 * see, so nothing near an edit is compared.
 */
const nearMs = 180 * minuteMs;

/** By so much clocks may be wrong, with a reserve, in ms. */
const slackMs = 6 * minuteMs;

/** What was told and is not so by the page for owners, and what is so and was not told. */
export function differences(week: Week): { wrong: string[]; missed: string[]; compared: number } {
  const parts = [compareStarts(week), compareOverruns(week), compareFailures(week)];
  return {
    wrong: parts.flatMap(({ wrong }) => wrong),
    missed: parts.flatMap(({ missed }) => missed),
    compared: parts.reduce((sum, { compared }) => sum + compared, 0),
  };
}

type Differences = ReturnType<typeof differences>;

function compareStarts({ declared, runs, gaps, told, until }: Week): Differences {
  const edits = declared.starts.slice(1).map(({ declaredAt }) => declaredAt);
  const unmet = declared.starts.flatMap((rules, index) => {
    const end = declared.starts[index + 1]?.declaredAt ?? Infinity;
    return unmetTimes(rules, runs, gaps, Math.min(until, end)).filter((time) => time < end);
  });
  const alerts = alertsOf(told, 'missing', 'late');
  const times = new Set(unmet.map((time) => new Date(time).toISOString()));
  const wrong = alerts.filter(({ occurrence }) => !times.has(occurrence) && !isNear(Date.parse(occurrence), edits));
  const missed = [...times].filter((time) => {
    const deadline = Date.parse(time) + (declared.starts[0]?.graceMs ?? 0);
    if (alerts.some(({ occurrence }) => occurrence === time) || isNear(deadline, edits)) return false;
    return !alerts.some(({ kind, openedAt, resolvedAt = Infinity }) => {
      return kind === 'missing' && openedAt <= deadline && resolvedAt > deadline;
    });
  });
  return { wrong: wrong.map(textOf), missed: missed.map((time) => `start ${time}`), compared: times.size };
}

function compareOverruns({ declared, runs, gaps, told, until }: Week): Differences {
  const edits = declared.limits.slice(1).map(({ since }) => since);
  const long = overruns(declared.limits, runs, gaps, until).filter(({ startedAt }) => !isNear(startedAt, edits));
  const ids = new Set(long.map(({ id }) => id));
  const started = new Map(runs.map(({ id, startedAt }) => [id, startedAt]));
  const alerts = alertsOf(told, 'overrunning');
  const wrong = alerts.filter(({ occurrence }) => {
    return !ids.has(occurrence) && !isNear(started.get(occurrence) ?? 0, edits);
  });
  const missed = [...ids].filter((id) => !alerts.some(({ occurrence }) => occurrence === id));
  return { wrong: wrong.map(textOf), missed: missed.map((id) => `overrun ${id}`), compared: ids.size };
}

function compareFailures({ declared, runs, told, until }: Week): Differences {
  const edits = declared.failures.slice(1).map(({ since }) => since);
  const spans = declared.failures.flatMap(({ since, inARow }, index) => {
    const end = declared.failures[index + 1]?.since ?? Infinity;
    return failingSpans(since, inARow, runs).filter(({ from }) => from < Math.min(end, until));
  });
  const far = spans.filter(({ from }) => !isNear(from, edits));
  const alerts = alertsOf(told, 'failing');
  const covers = (alert: Alert, time: number) =>
    alert.openedAt <= time + slackMs && (alert.resolvedAt ?? Infinity) >= time - slackMs;
  const wrong = alerts.filter(({ openedAt }) => {
    const isSo = spans.some(({ from, until: end }) => from <= openedAt + slackMs && end >= openedAt - slackMs);
    return !isSo && !isNear(openedAt, edits);
  });
  const missed = far.filter(({ from }) => !alerts.some((alert) => covers(alert, from)));
  return {
    wrong: wrong.map(textOf),
    missed: missed.map(({ from }) => `failing ${new Date(from).toISOString()}`),
    compared: far.length,
  };
}

/** The alerts that were opened, as they are known at the end. */
function alertsOf(told: readonly Transition[], ...kinds: string[]): Alert[] {
  const ends = new Map(told.map(({ alert }) => [alert.id, alert]));
  const opened = told.filter(({ change, alert }) => change === 'opened' && kinds.includes(alert.kind));
  return opened.map(({ alert }) => ends.get(alert.id) ?? alert);
}

function isNear(time: number, edits: readonly number[]): boolean {
  return edits.some((edit) => Math.abs(edit - time) <= nearMs);
}

function textOf({ kind, occurrence, openedAt }: Alert): string {
  return `${kind} ${occurrence} ${new Date(openedAt).toISOString()}`;
}
