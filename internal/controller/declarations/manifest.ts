import { isOrganization } from '../../event/stored-text.ts';
import type { KubernetesObject } from '../../cluster/object.ts';

export const apiVersion = 'runledger.dev/v1alpha1';

/** The label of a namespace whose value is the organization of its resources. */
export const organizationLabel = 'runledger.dev/organization';

/** The annotation of a namespace whose value `off` turns the defaults of its organization off. */
export const defaultsAnnotation = 'runledger.dev/defaults';

export type ResourceKind = 'Automation' | 'Webhook';

/** An `Automation` or a `Webhook`, from the API server or from a file. Nothing of it is checked. */
export interface ResourceManifest extends KubernetesObject {
  readonly spec?: unknown;
  /** True if its namespace declares more than is kept; then it has no spec. */
  readonly isLeftOut?: boolean;
  /** As the API server has it; it changes with each write. */
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

/** True for a namespace that turns the defaults of its organization off. */
export function turnsDefaultsOff({ metadata }: KubernetesObject): boolean {
  return metadata?.annotations?.[defaultsAnnotation] === 'off';
}

/** Returns the organization of a namespace; undefined without a valid value of the label. */
export function organizationOf({ metadata }: KubernetesObject): string | undefined {
  const organization = metadata?.labels?.[organizationLabel];
  return isOrganization(organization) ? organization : undefined;
}
