import { warningEvent, type WarningEvent } from '../events.ts';
import { explain, type SecretRefusal } from './secret-refusal.ts';

/** Returns one Warning Event for each Secret with refusals. */
export function refusalEvents(refusals: readonly SecretRefusal[]): WarningEvent[] {
  return [...Map.groupBy(refusals, ({ secret }) => secret)].map(([secret, ofSecret]) => {
    const sentences = ofSecret.map(explain).sort();
    const others = ofSecret.map(({ other }) => other?.uid ?? '').sort();
    return warningEvent({
      object: { apiVersion: 'v1', kind: 'Secret', ...secret },
      reason: 'TokenRefused',
      message: sentences.join('; '),
      change: [secret.uid, secret.resourceVersion, sentences, others],
      component: 'ingest',
    });
  });
}
