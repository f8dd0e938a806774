import type { Finding } from '../expectation/verdict.ts';

/** An alert that is open; times in ms since the Unix epoch. */
export interface OpenAlert {
  id: string;
  kind: Finding['kind'];
  occurrence: string;
  openedAt: number;
}

/** How the alerts of an automation change. */
export interface AlertChanges {
  open: Finding[];
  resolve: { id: string; at: number; reason: string }[];
}

export interface ReconcileOptions {
  /** The watermark of the evaluation before: what ended by then has been written. */
  since: number;
  watermark: number;
  /** The reason if an alert is no longer found. */
  otherwise: string;
}

/**
 * Compares the open alerts of an automation with what an evaluation found. What began and ended
 * since the evaluation before becomes an alert that is over, so that none is lost.
 */
export function reconcile(
  open: readonly OpenAlert[],
  found: readonly Finding[],
  { since, watermark, otherwise }: ReconcileOptions,
): AlertChanges {
  const changes: AlertChanges = { open: [], resolve: [] };
  const findings = found.filter(({ kind }) => kind !== 'unknown');
  const matched = new Set<Finding>();
  for (const alert of open) {
    const finding = findings.find((each) => isOf(alert, each));
    if (finding === undefined) {
      changes.resolve.push({ id: alert.id, at: watermark, reason: otherwise });
      continue;
    }
    if (finding.kind === alert.kind) matched.add(finding);
    const { until = Infinity, resolvedReason = otherwise } = finding;
    if (until <= watermark) changes.resolve.push({ id: alert.id, at: until, reason: resolvedReason });
  }
  for (const finding of findings) {
    const { from, until = Infinity } = finding;
    const isNew = until === Infinity || (until > since && until <= watermark);
    if (isNew && from <= watermark && !matched.has(finding)) changes.open.push(finding);
  }
  return changes;
}

/** A late start ends the alert that it was missing. An automation fails once at a time. */
function isOf(alert: OpenAlert, finding: Finding): boolean {
  if (alert.kind === 'missing' && finding.kind === 'late') return alert.occurrence === finding.occurrence;
  if (alert.kind !== finding.kind) return false;
  if (alert.kind === 'failing') return (finding.until ?? Infinity) > alert.openedAt;
  return alert.occurrence === finding.occurrence;
}
