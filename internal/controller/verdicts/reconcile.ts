import type { Facts, Finding } from '../../expectation/verdict.ts';

/** An open alert; times in ms since the Unix epoch. */
export interface OpenAlert {
  id: string;
  kind: Finding['kind'];
  occurrence: string;
  reason: string;
  openedAt: number;
}

/** Maximum number of open alerts of one kind per automation. */
const mostOpen = 100;

/** Maximum number of findings of one kind that arrive after they are over and become alerts. */
const mostLate = 10;

/** How the alerts of an automation change. */
export interface AlertChanges {
  open: Finding[];
  /** The changed texts of alerts that stay open. */
  update: { id: string; reason: string; facts: Facts }[];
  resolve: { id: string; at: number; reason: string }[];
}

export interface ReconcileOptions {
  /**
   * The watermark of the previous evaluation: what ended by then has been written, unless its
   * events were accepted later.
   */
  since: number;
  watermark: number;
  /** When the declaration last changed: an older alert may have an outdated text. */
  changedAt: number;
  /** The reason if the finding of an alert is gone. */
  otherwise: (alert: OpenAlert) => string;
}

/**
 * Compares the open alerts of an automation with the findings of an evaluation. A finding that
 * began and ended since the previous evaluation becomes an alert that is already over, so none is
 * lost.
 */
export function reconcile(
  open: readonly OpenAlert[],
  found: readonly Finding[],
  { since, watermark, changedAt, otherwise }: ReconcileOptions,
): AlertChanges {
  const changes: AlertChanges = { open: [], update: [], resolve: [] };
  const findings = found.filter(({ toldFrom = -Infinity, until = Infinity }) => toldFrom < until);
  const matched = new Set<Finding>();
  for (const alert of open) {
    const finding =
      findings.find((each) => isOf(alert, each)) ??
      (alert.openedAt < changedAt ? findings.find((each) => isStillMissing(alert, each)) : undefined);
    if (finding === undefined) {
      changes.resolve.push({ id: alert.id, at: watermark, reason: otherwise(alert) });
      continue;
    }
    if (finding.kind === alert.kind) matched.add(finding);
    const { until = Infinity, resolvedReason = otherwise(alert) } = finding;
    if (until <= watermark) changes.resolve.push({ id: alert.id, at: until, reason: resolvedReason });
    else if (finding.reason !== alert.reason)
      changes.update.push({ id: alert.id, reason: finding.reason, facts: finding.facts });
  }
  for (const finding of findings) {
    const { from, toldFrom = from, until = Infinity } = finding;
    const isNew = until === Infinity || (until <= watermark && (until > since || arrivedLate(finding, since)));
    if (isNew && Math.max(from, toldFrom) <= watermark && !matched.has(finding)) changes.open.push(finding);
  }
  return { ...changes, open: bounded(newestLate(changes.open, since), open) };
}

/**
 * True for a finding that ended before the previous evaluation, of events that were accepted after
 * it.
 */
export function arrivedLate({ until = Infinity, acceptedAt = -Infinity }: Finding, since: number): boolean {
  return until <= since && acceptedAt > since;
}

/** A sender that was offline may report a month at once: only the newest of it become alerts. */
function newestLate(found: readonly Finding[], since: number): Finding[] {
  const late = Map.groupBy(
    found.filter((finding) => arrivedLate(finding, since)),
    ({ kind }) => kind,
  );
  return found.filter((finding) => !(late.get(finding.kind)?.slice(0, -mostLate).includes(finding) ?? false));
}

/**
 * Bounds the alerts of an automation that never sends an END: ever more runs would overrun or be
 * lost.
 */
function bounded(found: readonly Finding[], open: readonly OpenAlert[]): Finding[] {
  const counts = new Map<string, number>();
  for (const { kind } of open) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return found.filter(({ kind, until }) => {
    const count = (counts.get(kind) ?? 0) + 1;
    if (until === undefined) counts.set(kind, count);
    return until !== undefined || count <= mostOpen;
  });
}

/** A late start ends the alert about the missing one. `failing` has one alert at a time. */
function isOf(alert: OpenAlert, finding: Finding): boolean {
  if (alert.kind === 'missing' && finding.kind === 'late') return alert.occurrence === finding.occurrence;
  if (alert.kind !== finding.kind) return false;
  if (alert.kind === 'failing') return (finding.until ?? Infinity) > alert.openedAt;
  return alert.occurrence === finding.occurrence;
}

/** After a change of the interval, the missing start is expected at another time. */
function isStillMissing(alert: OpenAlert, finding: Finding): boolean {
  return alert.kind === 'missing' && finding.kind === 'missing' && finding.until === undefined;
}
