import { parseAllDocuments } from 'yaml';

/** A Kubernetes object, as far as tests look into it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

export interface EnvironmentEntry {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } };
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: string[];
  readonly args?: string[];
  readonly env?: EnvironmentEntry[];
  readonly securityContext?: Record<string, unknown>;
  readonly resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  readonly volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
  readonly lifecycle?: { preStop?: { exec?: { command: string[] } } };
  readonly [field: string]: unknown;
}

export interface PodSpec {
  readonly containers: Container[];
  readonly initContainers?: Container[];
  readonly volumes?: { name: string; [source: string]: unknown }[];
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly enableServiceLinks?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext?: Record<string, unknown>;
  readonly topologySpreadConstraints?: { topologyKey: string; labelSelector?: unknown }[];
}

/** The objects of a stream of YAML documents. Throws for invalid YAML and for duplicate keys. */
export function parseManifests(yaml: string): Manifest[] {
  const documents = parseAllDocuments(yaml, { uniqueKeys: true });
  return documents.flatMap((document) => {
    if (!('errors' in document)) return [];
    const [error] = document.errors;
    if (error !== undefined) throw error;
    const content = document.toJS() as Manifest | null;
    return content === null ? [] : [content];
  });
}

/** Where the pod of a workload is. */
interface Workload {
  template?: { spec?: PodSpec };
  jobTemplate?: { spec?: { template?: { spec?: PodSpec } } };
}

/** The pods, and the pod templates of workloads. */
export function podsOf(manifests: readonly Manifest[]): { name: string; kind: string; spec: PodSpec }[] {
  return manifests.flatMap(({ kind, metadata, spec }) => {
    if (kind === 'Pod') return [{ name: metadata.name, kind, spec: spec as PodSpec }];
    const { template, jobTemplate } = (spec ?? {}) as Workload;
    const inner = template?.spec ?? jobTemplate?.spec?.template?.spec;
    return inner === undefined ? [] : [{ name: metadata.name, kind, spec: inner }];
  });
}

/** The one object of this kind and name. Throws when there is none. */
export function objectOf(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found;
}

/** The spec of the one object of this kind and name. */
export function specOf<Spec>(manifests: readonly Manifest[], kind: string, name: string): Spec {
  return objectOf(manifests, kind, name)['spec'] as Spec;
}

/** The environment of the first container of the workload of this name. */
export function environment(manifests: readonly Manifest[], name: string): Record<string, string> {
  return environmentOf(theContainer(manifests, name));
}

/** The pod of a workload of this name. */
export function thePod(manifests: readonly Manifest[], name: string): PodSpec {
  const found = podsOf(manifests).find((pod) => pod.name === name);
  if (found === undefined) throw new Error(`no pod of ${name}`);
  return found.spec;
}

/** The first container of the workload of this name. */
export function theContainer(manifests: readonly Manifest[], name: string): Container {
  const [container] = thePod(manifests, name).containers;
  if (container === undefined) throw new Error(`${name} has no container`);
  return container;
}

/** Where pods have the Secrets of the chart as files: `name/key` below it. */
export const secretsFolder = '/etc/runledger/secrets/';

/** The environment of a container; a setting whose file is a Secret is `name/key`. */
export function environmentOf({ env }: Container): Record<string, string> {
  const entries = (env ?? []).map(({ name, value = '' }) =>
    value.startsWith(secretsFolder)
      ? [name.replace(/_FILE$/, ''), value.slice(secretsFolder.length)]
      : [name, value.replaceAll(`file://${secretsFolder}`, '')],
  );
  return Object.fromEntries(entries);
}

/** The files of Secrets that a container, or a part of it, names: `name/key`, each once. */
export function secretFilesOf(part: unknown): string[] {
  const found = JSON.stringify(part).matchAll(/\/etc\/runledger\/secrets\/([\w./-]+)/g);
  return [...new Set(Array.from(found, ([, file = '']) => file))];
}
