import { randomUUID } from 'node:crypto';
import type { Expectation } from '../../expectation/automation.ts';
import { evaluate, type Evaluation } from '../../expectation/evaluate.ts';
import type { History, Run } from '../../expectation/history.ts';
import { expectationOf } from '../../expectation/read-expectation.ts';
import { timesOf } from '../../expectation/rules.ts';
import type { Schedules } from '../../expectation/schedules.ts';
import { describeFound } from '../../expectation/sentences.ts';
import { zoneOf } from '../../expectation/start-rule.ts';
import type { Alert, Transition } from '../../expectation/transition.ts';
import type { Finding, Verdict } from '../../expectation/verdict.ts';
import type { Tables } from '../../store/database.ts';
import type { Transaction } from '../../store/sql.ts';
import { readAutomations, type AutomationKey, type DueAutomation } from './due-automations.ts';
import { keptStarts, lastStarts, startBefore } from './last-starts.ts';
import { markLost, type LostRun } from './mark-lost.ts';
import {
  insertAlerts,
  readOpenAlerts,
  resolveAlerts,
  updateAlerts,
  type OpenedAlert,
  type Resolution,
  type SaidOfAlert,
} from './open-alerts.ts';
import { readRuns, type RunsWanted } from './read-runs.ts';
import { arrivedLate, reconcile, type OpenAlert } from './reconcile.ts';
import type { TickGaps } from './record-gaps.ts';
import { isWritten, saveEvaluations, type SavedEvaluation } from './save-evaluations.ts';

/** Maximum time between two evaluations of an automation, in ms: events may be stored very late. */
const longestMs = 3_600_000;

/**
 * A run that starts this far in the future, in ms, got its time from a wrong clock. It does not
 * count until then, so that it hides no missing run.
 */
const aheadMs = 60_000;

/** What all evaluations of a tick share; times in ms since the Unix epoch. */
export interface TickContext {
  /** The clock of Postgres. */
  now: number;
  watermark: number;
  gaps: TickGaps;
  schedules: Schedules;
}

/** Evaluates automations and writes their verdicts and alerts. Resolves with what changed. */
export async function evaluateDue(
  trx: Transaction<Tables>,
  keys: readonly AutomationKey[],
  context: TickContext,
): Promise<Transition[]> {
  const automations = await readAutomations(trx, keys);
  const parsed = automations.map(({ expect, silent }) => expectationOf(expect ?? {}, { silent }));
  const histories = await readRuns(
    trx,
    automations.map((automation, index) => wanted(automation, parsed[index])),
  );
  const open = Map.groupBy(await readOpenAlerts(trx, keys), keyOf);
  const alertsOf = (automation: DueAutomation) =>
    open.get(keyOf({ ...automation, automationId: automation.automation_id })) ?? [];
  const oldest = automations.map((each, index) => oldestOf(each, parsed[index], histories[index], alertsOf(each)));
  const gaps = await context.gaps.since(Math.min(...oldest));
  const saved: SavedEvaluation[] = [];
  const opened: OpenedAlert[] = [];
  const ends: Resolution[] = [];
  const updates: SaidOfAlert[] = [];
  const lost: LostRun[] = [];
  for (const [index, automation] of automations.entries()) {
    const [expectation, history] = [parsed[index], histories[index]];
    if (expectation === undefined || history === undefined) continue;
    const since = sinceOf(automation);
    const alerts = alertsOf(automation);
    const kept = keptStarts(automation);
    const { begun, ahead } = beginningBy(context.now, history.runs);
    const known = {
      ...history,
      runs: begun,
      startBefore: startBefore(kept, begun, expectation.starts),
      gaps,
      told: alerts,
    };
    const result = evaluateOne(automation, expectation, known, context);
    const options = {
      since,
      watermark: context.watermark,
      changedAt: automation.declared_at.getTime(),
      otherwise: (alert: OpenAlert) => reasonOfEnd(automation, alert, expectation, history, context),
    };
    const changes = reconcile(alerts, result.findings, options);
    opened.push(
      ...changes.open.map((finding) => ({
        alert: alertOf(automation, finding),
        declared: automation.declared,
        arrivedLate: arrivedLate(finding, since),
      })),
    );
    ends.push(...changes.resolve);
    updates.push(...changes.update);
    lost.push(
      ...result.findings.filter(({ kind }) => kind === 'lost').map((finding) => ({ ...automation, ...finding })),
    );
    const evaluation = {
      ...automation,
      verdicts: result.verdicts,
      nextAt: Math.min(nextAt(result, expectation, context.watermark), ...ahead),
      starts: lastStarts(kept, begun, expectation.starts),
    };
    if (changes.open.length + changes.resolve.length > 0 || !isWritten(evaluation, context.watermark))
      saved.push(evaluation);
  }
  await updateAlerts(trx, updates);
  await markLost(trx, lost);
  const resolved = await resolveAlerts(trx, ends);
  const inserted = await insertAlerts(trx, opened, context.watermark);
  await saveEvaluations(trx, saved, context.watermark);
  return [...resolved, ...inserted];
}

function keyOf({ organization, automationId }: { organization: string; automationId: string }): string {
  return `${organization} ${automationId}`;
}

/**
 * The oldest time that an evaluation looks at, in ms since the Unix epoch. Without older runs, the
 * first pause begins with the rule on starts, or with a start that raised a missing alert before
 * the rule changed.
 */
function oldestOf(
  { declared_at, rules }: DueAutomation,
  expectation: Expectation | undefined,
  { runs, otherRuns = [], hasOlderRuns }: Pick<History, 'runs' | 'otherRuns' | 'hasOlderRuns'> = noRuns,
  open: readonly Alert[] = [],
): number {
  const times = [...runs, ...otherRuns].map(({ startedAt }) => startedAt);
  if (hasOlderRuns) return Math.min(...times);
  const { starts } = expectation ?? {};
  const everyMs = starts?.kind === 'every' ? starts.everyMs : 0;
  const told = open.filter(({ kind }) => kind === 'missing').map(({ occurrence }) => Date.parse(occurrence) - everyMs);
  return Math.min(...times, ...told, timesOf(rules, declared_at.getTime()).starts);
}

const noRuns = { runs: [], hasOlderRuns: false };

/** The time up to which an automation's findings are written, in ms since the Unix epoch. */
function sinceOf({ evaluated_at, declared_at }: DueAutomation): number {
  return (evaluated_at ?? declared_at).getTime();
}

/**
 * The runs that an evaluation needs: one that ends now may have started long ago, and a failure
 * counts for a while.
 */
function wanted(automation: DueAutomation, expectation: Expectation | undefined): RunsWanted {
  const { organization, automation_id } = automation;
  const { failures, maxDurationMs = 0 } = expectation ?? {};
  const since = sinceOf(automation);
  const finished =
    failures?.kind === 'rate' ? failures.of : failures?.kind === 'consecutive' ? failures.consecutive : 0;
  return {
    organization,
    automation_id,
    since,
    unendedSince: since - maxDurationMs,
    finished: failures === undefined ? 0 : finished + 1,
    failedSince: failures?.kind === 'count' ? since - failures.withinMs : undefined,
  };
}

/** Divides runs into those that count by now and the times of the others. */
function beginningBy(now: number, runs: readonly Run[]): { begun: Run[]; ahead: number[] } {
  const { begun = [], ahead = [] } = Object.groupBy(runs, ({ startedAt }) =>
    startedAt <= now + aheadMs ? 'begun' : 'ahead',
  );
  return { begun, ahead: ahead.map(({ startedAt }) => startedAt) };
}

function evaluateOne(
  { suspend, declared_at, rules }: DueAutomation,
  expectation: Expectation,
  runs: Omit<History, 'declaredAt'>,
  { watermark, schedules }: TickContext,
): Evaluation {
  if (suspend) return { findings: [], verdicts: [], nextAt: Infinity };
  const history = { ...runs, declaredAt: timesOf(rules, declared_at.getTime()) };
  try {
    return evaluate(expectation, history, watermark, schedules);
  } catch (error) {
    // A declaration from another release must not stop the others.
    const reason = `The expectation cannot be evaluated: ${String(error)}`;
    const since = new Date(watermark).toISOString();
    const verdict: Verdict = { kind: 'unknown', occurrence: 'expectation', reason, facts: {}, since, told: true };
    return { findings: [], verdicts: [verdict], nextAt: Infinity };
  }
}

/** The time of the next evaluation: runs that start from now on may overrun or fall silent. */
function nextAt({ nextAt: known }: Evaluation, expectation: Expectation, watermark: number): number {
  const { maxDurationMs = Infinity, lostAfterMs = Infinity } = expectation;
  return Math.min(known, watermark + Math.min(longestMs, maxDurationMs, lostAfterMs));
}

/** Why an alert ends whose finding is gone. */
function reasonOfEnd(
  { suspend, declared_at }: DueAutomation,
  alert: OpenAlert,
  expectation: Expectation,
  { runs, otherRuns = [] }: Pick<History, 'runs' | 'otherRuns'>,
  { schedules }: TickContext,
): string {
  if (suspend) return 'The automation is suspended.';
  const lost = alert.kind === 'lost' ? [...runs, ...otherRuns] : [];
  const run = lost.find(({ executionId }) => executionId === alert.occurrence);
  if (run !== undefined) return describeFound(zoneOf(expectation, schedules), run);
  if (alert.openedAt < declared_at.getTime()) return 'The expectation has changed.';
  return 'Events that were stored later show that it was met.';
}

function alertOf({ organization, automation_id: automationId }: DueAutomation, finding: Finding): Alert {
  const { kind, occurrence, reason, facts, from, toldFrom, until, resolvedReason } = finding;
  return {
    id: randomUUID(),
    organization,
    automationId,
    kind,
    occurrence,
    reason,
    facts,
    openedAt: Math.max(from, toldFrom ?? from),
    resolvedAt: until,
    resolvedReason: until === undefined ? undefined : resolvedReason,
  };
}
