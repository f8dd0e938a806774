/** The parts of a Kubernetes object that identify it and its version. */
export interface KubernetesObject {
  readonly metadata?: {
    readonly name?: string | undefined;
    readonly namespace?: string | undefined;
    readonly uid?: string | undefined;
    readonly resourceVersion?: string | undefined;
    readonly generation?: number | undefined;
    readonly creationTimestamp?: string | undefined;
    readonly labels?: Readonly<Record<string, unknown>>;
    readonly annotations?: Readonly<Record<string, unknown>>;
  };
}

/** Identifies an object and its version. */
export interface ObjectReference {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Returns the reference of an object. Parts that a manifest omits are ''. */
export function referenceOf({ metadata = {} }: KubernetesObject): ObjectReference {
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = metadata;
  return { name, namespace, uid, resourceVersion };
}

/** Returns the name that is unique among the objects of a kind: `namespace/name`. */
export function keyOf({ metadata }: KubernetesObject): string {
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
}
