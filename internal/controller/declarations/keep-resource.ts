import type { ResourceManifest, ResourceStatus } from './manifest.ts';
import type { SharedTexts } from './shared-texts.ts';

/** A resource as the API server sends it. */
export interface ManagedManifest extends ResourceManifest {
  readonly metadata?: ResourceManifest['metadata'] & {
    readonly managedFields?: readonly { readonly subresource?: string; readonly time?: string }[];
  };
}

/** Drops labels, annotations and managed fields, but keeps the time of the last status write. */
export function keepResource({ metadata = {}, spec, status }: ManagedManifest, texts: SharedTexts): ResourceManifest {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, managedFields = [] } = metadata;
  const writes = managedFields.flatMap(({ subresource, time }) => (subresource === 'status' ? (time ?? []) : []));
  return {
    metadata: {
      name,
      namespace: texts.share(namespace),
      uid,
      resourceVersion,
      generation,
      creationTimestamp: texts.share(creationTimestamp),
    },
    spec,
    status: status && keepStatus(status, texts),
    statusAt: texts.share(writes.toSorted().at(-1)),
  };
}

function keepStatus(
  { observedGeneration, lastExecution, conditions = [] }: ResourceStatus,
  texts: SharedTexts,
): ResourceStatus {
  return {
    observedGeneration,
    lastExecution,
    conditions: conditions.map(({ type, status, reason, message, lastTransitionTime }) => ({
      type,
      status,
      reason: texts.share(reason),
      message: texts.share(message),
      lastTransitionTime: texts.share(lastTransitionTime),
    })),
  };
}
