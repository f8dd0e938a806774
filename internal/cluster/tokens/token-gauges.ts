import type { TokenMetrics } from './token-metrics.ts';
import { refusalReasons, type SecretRefusalReason } from './secret-refusal.ts';
import type { TokenSet } from './token-set.ts';

/** Shows a token set in the metrics. Sets every reason, so that a corrected one returns to 0. */
export function showTokenSet(metrics: TokenMetrics, set: TokenSet): void {
  metrics.organizations.set(set.organizations.length);
  metrics.tokens.set(set.tokens.size);
  for (const reason of Object.keys(refusalReasons) as SecretRefusalReason[]) {
    metrics.refused.set({ reason }, set.refusals.filter((refusal) => refusal.reason === reason).length);
  }
}
