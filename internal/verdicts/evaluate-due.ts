import { randomUUID } from 'node:crypto';
import type { Expectation } from '../expectation/automation.ts';
import { evaluate, type Evaluation } from '../expectation/evaluate.ts';
import type { History } from '../expectation/history.ts';
import { expectationOf } from '../expectation/read-expectation.ts';
import type { Schedules } from '../expectation/schedules.ts';
import type { Alert, Transition } from '../expectation/transition.ts';
import type { AlertKind, Finding, Verdict } from '../expectation/verdict.ts';
import type { Tables } from '../store/database.ts';
import type { Transaction } from '../store/sql.ts';
import { readAutomations, type AutomationKey, type DueAutomation } from './due-automations.ts';
import { insertAlerts, readOpenAlerts, resolveAlerts, type OpenedAlert, type Resolution } from './open-alerts.ts';
import { readRuns, type RunsWanted } from './read-runs.ts';
import type { TickGaps } from './record-gaps.ts';
import { reconcile } from './reconcile.ts';
import { isWritten, saveEvaluations, type SavedEvaluation } from './save-evaluations.ts';

/** Longest time between two evaluations of an automation, in ms: events may be stored very late. */
const longestMs = 3_600_000;

/**
 * A run that starts so long after now, in ms, had its time from a wrong clock: it is no run until
 * then, so that it hides no missing one.
 */
const aheadMs = 60_000;

/** What every evaluation of a tick shares; times in ms since the Unix epoch. */
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
  const parsed = automations.map((automation) => expectationOf(automation.expect ?? {}));
  const histories = await readRuns(
    trx,
    automations.map((automation, index) => wanted(automation, parsed[index])),
  );
  const oldest = automations.map((automation, index) => oldestOf(automation, histories[index]));
  const gaps = await context.gaps.since(Math.min(...oldest));
  const open = Map.groupBy(await readOpenAlerts(trx, keys), keyOf);
  const saved: SavedEvaluation[] = [];
  const opened: OpenedAlert[] = [];
  const ends: Resolution[] = [];
  for (const [index, automation] of automations.entries()) {
    const [expectation, history] = [parsed[index], histories[index]];
    if (expectation === undefined || history === undefined) continue;
    const since = sinceOf(automation);
    const result = evaluateOne(automation, expectation, { ...history, gaps }, context);
    const alerts = open.get(keyOf({ ...automation, automationId: automation.automation_id })) ?? [];
    const options = { since, watermark: context.watermark, otherwise: reasonOfEnd(automation, alerts) };
    const changes = reconcile(alerts, result.findings, options);
    opened.push(
      ...changes.open.map((finding) => ({ alert: alertOf(automation, finding), declared: automation.declared })),
    );
    ends.push(...changes.resolve);
    const evaluation = {
      ...automation,
      verdicts: result.verdicts,
      nextAt: nextAt(result, expectation, context.watermark),
    };
    if (changes.open.length + changes.resolve.length > 0 || !isWritten(evaluation, context.watermark))
      saved.push(evaluation);
  }
  const resolved = await resolveAlerts(trx, ends);
  const inserted = await insertAlerts(trx, opened, context.watermark);
  await saveEvaluations(trx, saved, context.watermark);
  return [...resolved, ...inserted];
}

function keyOf({ organization, automationId }: { organization: string; automationId: string }): string {
  return `${organization} ${automationId}`;
}

/** The oldest time that an evaluation looks at, in ms since the Unix epoch. */
function oldestOf(
  { declared_at }: DueAutomation,
  history: Awaited<ReturnType<typeof readRuns>>[number] | undefined,
): number {
  const { runs = [], longRuns = [], hasOlderRuns = false } = history ?? {};
  const times = [...runs, ...longRuns].map(({ startedAt }) => startedAt);
  return Math.min(...times, hasOlderRuns ? Infinity : declared_at.getTime());
}

/** Until when the findings of an automation have been written, in ms since the Unix epoch. */
function sinceOf({ evaluated_at, declared_at }: DueAutomation): number {
  return (evaluated_at ?? declared_at).getTime();
}

/** A run that ends now may have started long ago, and a failure counts for a while. */
function wanted(automation: DueAutomation, expectation: Expectation | undefined): RunsWanted {
  const { organization, automation_id } = automation;
  const failures = expectation?.failures;
  const back = Math.max(expectation?.maxDurationMs ?? 0, failures?.kind === 'count' ? failures.withinMs : 0);
  const runs = { consecutive: 0, count: 0, rate: 0, ...failures };
  const before = Math.max(1, failures?.kind === 'rate' ? failures.of : runs.consecutive) + 1;
  return { organization, automation_id, since: sinceOf(automation) - back, before };
}

function evaluateOne(
  { suspend, declared_at }: DueAutomation,
  expectation: Expectation,
  runs: Omit<History, 'declaredAt'>,
  { now, watermark, schedules }: TickContext,
): Evaluation {
  if (suspend) return { findings: [], verdicts: [], nextAt: Infinity };
  const { begun = [], ahead = [] } = Object.groupBy(runs.runs, ({ startedAt }) =>
    startedAt <= now + aheadMs ? 'begun' : 'ahead',
  );
  const history = { ...runs, runs: begun, declaredAt: declared_at.getTime() };
  try {
    const result = evaluate(expectation, history, watermark, schedules);
    return { ...result, nextAt: Math.min(result.nextAt, ...ahead.map(({ startedAt }) => startedAt)) };
  } catch (error) {
    // One declaration of another release must not stop the others.
    const reason = `The expectation cannot be evaluated: ${String(error)}`;
    const since = new Date(watermark).toISOString();
    const verdict: Verdict = { kind: 'unknown', occurrence: 'expectation', reason, facts: {}, since };
    return { findings: [], verdicts: [verdict], nextAt: Infinity };
  }
}

/** Runs that start from now on may take too long from then on. */
function nextAt({ nextAt: known }: Evaluation, { maxDurationMs }: Expectation, watermark: number): number {
  return Math.min(known, watermark + Math.min(longestMs, maxDurationMs ?? Infinity));
}

/** Why an alert ends that is no longer found. */
function reasonOfEnd({ suspend, declared_at }: DueAutomation, alerts: readonly Alert[]): string {
  if (suspend) return 'The automation is suspended.';
  const changed = alerts.some(({ openedAt }) => openedAt < declared_at.getTime());
  return changed ? 'The expectation has changed.' : 'Events that were stored later show that it was met.';
}

function alertOf({ organization, automation_id: automationId }: DueAutomation, finding: Finding): Alert {
  const { kind, occurrence, reason, facts, from, until, resolvedReason } = finding;
  return {
    id: randomUUID(),
    organization,
    automationId,
    // The caller leaves out what is unknown.
    kind: kind as AlertKind,
    occurrence,
    reason,
    facts,
    openedAt: from,
    resolvedAt: until,
    resolvedReason: until === undefined ? undefined : resolvedReason,
  };
}
