import type { ResourceManifest, ResourceStatus } from './manifest.ts';
import { shared } from './shared-text.ts';

/** A resource as the API server sends it. */
export interface ManagedManifest extends ResourceManifest {
  readonly metadata?: ResourceManifest['metadata'] & {
    readonly managedFields?: readonly { readonly subresource?: string; readonly time?: string }[];
  };
}

/** Drops labels, annotations and managed fields, but the time of the last write of the status. */
export function keepResource({ metadata = {}, spec, status }: ManagedManifest): ResourceManifest {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, managedFields = [] } = metadata;
  const writes = managedFields.flatMap(({ subresource, time }) => (subresource === 'status' ? (time ?? []) : []));
  return {
    metadata: {
      name,
      namespace: shared(namespace),
      uid,
      resourceVersion,
      generation,
      creationTimestamp: shared(creationTimestamp),
    },
    spec,
    status: status && keepStatus(status),
    statusAt: shared(writes.toSorted().at(-1)),
  };
}

function keepStatus({ observedGeneration, lastExecution, conditions = [] }: ResourceStatus): ResourceStatus {
  return {
    observedGeneration,
    lastExecution,
    conditions: conditions.map(({ type, status, reason, message, lastTransitionTime }) => ({
      type,
      status,
      reason: shared(reason),
      message: shared(message),
      lastTransitionTime: shared(lastTransitionTime),
    })),
  };
}
