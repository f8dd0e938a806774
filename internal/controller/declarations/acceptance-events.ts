import { firstOfNamespaces, warningEvent, type WarningEvent } from '../../cluster/events.ts';
import { referenceOf } from '../../cluster/object.ts';
import type { Acceptance } from './declare.ts';
import { apiVersion } from './manifest.ts';

/** Not an error: the controller reads the Secret within moments. */
const passing = 'SecretNotRead';

/**
 * Returns Warning Events for resources that are not accepted: for the first hundred per namespace.
 */
export function acceptanceEvents(acceptances: readonly Acceptance[]): WarningEvent[] {
  const refused = acceptances.filter(({ accepted, reason }) => !accepted && reason !== passing);
  const events = refused.map(({ kind, manifest, reason, message }) => {
    const reference = referenceOf(manifest);
    return warningEvent({
      object: { apiVersion, kind, ...reference },
      reason,
      message,
      // Without the resourceVersion: each write of the status changes it.
      change: [reference.uid, manifest.metadata?.generation, reason, message],
      component: 'controller',
    });
  });
  return firstOfNamespaces(events);
}
