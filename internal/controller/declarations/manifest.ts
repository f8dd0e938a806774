import { isOrganization } from '../../event/stored-text.ts';
import type { KubernetesObject } from '../../cluster/object.ts';

export const apiVersion = 'runledger.dev/v1beta1';

/** The label on a namespace with the organization of its resources. */
export const organizationLabel = 'runledger.dev/organization';

/** The annotation on a namespace that turns off the defaults of its organization with `off`. */
export const defaultsAnnotation = 'runledger.dev/defaults';

export type ResourceKind = 'Automation' | 'Channel';

/** An unchecked `Automation` or `Channel`, from the API server or from a file. */
export interface ResourceManifest extends KubernetesObject {
  readonly spec?: unknown;
  /** True if its namespace declares too much; then it has no spec. */
  readonly isLeftOut?: boolean;
  /** The status as the API server has it. */
  status?: ResourceStatus | undefined;
  /** Time of the last write of the status, ISO 8601. */
  statusAt?: string | undefined;
}

/** The status of a resource, as the controller writes it. */
export interface ResourceStatus {
  readonly observedGeneration?: number | undefined;
  readonly lastExecution?: LastExecution | undefined;
  readonly conditions?: readonly Condition[];
}

export interface LastExecution {
  readonly executionId: string;
  readonly state: string;
  /** ISO 8601 in UTC, whole seconds. */
  readonly startedAt: string;
}

export interface Condition {
  readonly type: 'Ready' | 'Healthy';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/** True if a namespace turns off the defaults of its organization. */
export function turnsDefaultsOff({ metadata }: KubernetesObject): boolean {
  return metadata?.annotations?.[defaultsAnnotation] === 'off';
}

/** Returns the organization of a namespace; undefined without a valid label. */
export function organizationOf({ metadata }: KubernetesObject): string | undefined {
  const organization = metadata?.labels?.[organizationLabel];
  return isOrganization(organization) ? organization : undefined;
}
