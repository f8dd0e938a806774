import type { AutomationMetrics } from './automation-metrics.ts';
import type { Acceptance } from './declare.ts';

/** Shows in the metrics how many declarations are accepted, and how many are refused by reason. */
export function showAcceptances(metrics: AutomationMetrics, acceptances: readonly Acceptance[]): void {
  metrics.declared.set(acceptances.filter(({ automation }) => automation !== undefined).length);
  // A corrected reason disappears, which counts as 0.
  metrics.refused.reset();
  for (const { accepted, reason } of acceptances) if (!accepted) metrics.refused.inc({ reason });
}
