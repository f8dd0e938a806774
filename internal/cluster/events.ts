import { hash } from 'node:crypto';
import { hostname } from 'node:os';
import { ApiError } from './api-error.ts';
import { sendRequest } from './api-request.ts';
import type { ClusterAccess } from './cluster-access.ts';
import type { ObjectReference } from './object.ts';

/** A Warning Event on an object, for its owner. */
export type WarningEvent = ReturnType<typeof warningEvent>;

export interface Warning {
  readonly object: ObjectReference & { readonly apiVersion: string; readonly kind: string };
  /** One word, such as `TokenRefused`. */
  readonly reason: string;
  readonly message: string;
  /** Names the change. Events of equal changes have the same name in every pod. */
  readonly change: readonly unknown[];
  /** The process, such as `ingest`. */
  readonly component: string;
}

/** Returns the Event of a warning. Its name depends on the object and the change only. */
export function warningEvent({ object, reason, message, change, component }: Warning) {
  const digest = hash('sha256', JSON.stringify(change)).slice(0, 16);
  const now = new Date().toISOString();
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: `${object.name.slice(0, 200).replace(/[^a-z0-9]+$/, '')}-${digest}`,
      namespace: object.namespace,
    },
    type: 'Warning',
    reason,
    message: message.slice(0, 1000),
    involvedObject: object,
    source: { component: `runledger-${component}` },
    reportingComponent: `runledger.dev/${component}`,
    reportingInstance: hostname(),
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  };
}

/** Most Events per namespace at a time, since they are posted one after another. */
const mostOfNamespace = 100;

/** The first Events of each namespace, so that 10,000 faults in one do not delay the others. */
export function firstOfNamespaces(events: readonly WarningEvent[]): WarningEvent[] {
  const byNamespace = Map.groupBy(events, ({ metadata }) => metadata.namespace);
  return [...byNamespace.values()].flatMap((own) => own.slice(0, mostOfNamespace));
}

/** Posts an Event. Also succeeds if an Event of that name exists: another pod was faster. */
export async function createEvent(access: ClusterAccess, event: WarningEvent, signal: AbortSignal): Promise<void> {
  const path = `/api/v1/namespaces/${encodeURIComponent(event.metadata.namespace)}/events`;
  try {
    await sendRequest(access, { action: 'create Event', path, body: event, signal });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 409)) throw error;
  }
}
