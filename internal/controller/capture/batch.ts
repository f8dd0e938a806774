import type { KubernetesObject } from '../../cluster/object.ts';
import { isUuid } from '../../event/uuid.ts';

/** The label on a Job, on the template of its CronJob, or on its namespace. */
export const captureLabel = 'runledger.dev/capture';

/** The annotation with the automation's UUID, on a Job or a Job template. */
export const automationAnnotation = 'runledger.dev/automation-id';

/** The parts of `batch/v1` and `v1` that are read. None of them is validated. */
interface Owned extends KubernetesObject {
  readonly metadata?: KubernetesObject['metadata'] & {
    readonly ownerReferences?: readonly OwnerReference[];
    readonly deletionTimestamp?: string;
  };
}

interface OwnerReference {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

export interface JobManifest extends Owned {
  readonly status?: {
    readonly startTime?: string;
    readonly completionTime?: string;
    readonly conditions?: readonly JobCondition[];
  };
}

export interface JobCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface CronJobManifest extends KubernetesObject {
  readonly spec?: {
    readonly schedule?: string;
    readonly timeZone?: string;
    readonly suspend?: boolean;
    readonly jobTemplate?: { readonly metadata?: KubernetesObject['metadata'] };
  };
}

export interface PodManifest extends Owned {
  readonly status?: {
    readonly phase?: string;
    /** Set on an evicted Pod, for example. */
    readonly reason?: string;
    readonly message?: string;
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

export interface ContainerStatus {
  readonly name: string;
  readonly restartCount?: number;
  readonly state?: { readonly terminated?: Terminated };
  readonly lastState?: { readonly terminated?: Terminated };
}

export interface Terminated {
  readonly exitCode: number;
  readonly reason?: string;
  readonly message?: string;
  readonly finishedAt?: string;
}

/** The controlling owner of an object, if it has this kind. */
export function controllerOf({ metadata }: Owned, kind: string): OwnerReference | undefined {
  return metadata?.ownerReferences?.find((owner) => owner.controller === true && owner.kind === kind);
}

/** The automation in the annotation; undefined unless it is a UUID. */
export function annotatedAutomation(metadata: KubernetesObject['metadata']): string | undefined {
  const id = metadata?.annotations?.[automationAnnotation];
  return isUuid(id) ? id.toLowerCase() : undefined;
}
