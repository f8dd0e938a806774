import type { ClusterAccess } from '../kubernetes/cluster-access.ts';
import { follow, type FollowTimes, type ObjectCache } from '../kubernetes/follow.ts';
import { Resource, type ResourceQuery } from '../kubernetes/resource.ts';
import { apiVersion, organizationLabel, organizationOf, type ResourceManifest } from './manifest.ts';

/** The lists of one kind: one for each namespace, or one of all namespaces. */
class Lists<Kept> {
  readonly #queries: readonly ResourceQuery[];
  readonly #lists: (ReadonlyMap<string, Kept> | undefined)[];

  constructor(queries: readonly ResourceQuery[]) {
    this.#queries = queries;
    this.#lists = queries.map(() => undefined);
  }

  get complete(): boolean {
    return this.#lists.every((list) => list !== undefined);
  }

  objects(): Kept[] {
    return this.#lists.flatMap((list) => [...(list?.values() ?? [])]);
  }

  /** Each of these promises follows one list. */
  follow(keep: (object: ManagedManifest) => Kept, { access, onChange, times, end }: Following) {
    return this.#queries.map((query, index) => {
      const onList = (list: ReadonlyMap<string, Kept>): void => {
        this.#lists[index] = list;
        onChange();
      };
      const cache: ObjectCache<Kept> = { onList, onChange };
      return follow(new Resource<ManagedManifest>(access, query), keep, cache, times, end);
    });
  }
}

interface Following {
  readonly access: ClusterAccess;
  readonly onChange: () => void;
  readonly times: FollowTimes;
  readonly end: AbortSignal;
}

type NamespaceOrganization = readonly [namespace: string, organization: string | undefined];

/** The automations, webhooks and labelled namespaces of a cluster, as one attempt lists them. */
export class ClusterView {
  readonly #automations: Lists<ResourceManifest>;
  readonly #webhooks: Lists<ResourceManifest>;
  readonly #namespaces: Lists<NamespaceOrganization>;

  /** Of these namespaces, or of all if there are none. */
  constructor(namespaces: readonly string[]) {
    const resources = (plural: string): ResourceQuery[] =>
      inEach(namespaces).map((below) => ({
        plural,
        path: `/apis/${apiVersion}/${below}${plural.toLowerCase()}`,
      }));
    this.#automations = new Lists(resources('Automations'));
    this.#webhooks = new Lists(resources('Webhooks'));
    const ofNamespaces = { plural: 'Namespaces', path: '/api/v1/namespaces', labelSelector: organizationLabel };
    this.#namespaces = new Lists(
      namespaces.length === 0
        ? [ofNamespaces]
        : namespaces.map((name) => ({ ...ofNamespaces, fieldSelector: `metadata.name=${name}` })),
    );
  }

  /** True when every list was read. */
  get complete(): boolean {
    return [this.#automations, this.#webhooks, this.#namespaces].every(({ complete }) => complete);
  }

  get automations(): ResourceManifest[] {
    return this.#automations.objects();
  }

  get webhooks(): ResourceManifest[] {
    return this.#webhooks.objects();
  }

  /** Namespace → organization. */
  get organizations(): ReadonlyMap<string, string> {
    const pairs = this.#namespaces.objects();
    return new Map(pairs.flatMap(([name, organization]) => (organization === undefined ? [] : [[name, organization]])));
  }

  /** Follows everything until `end` is aborted. Rejects after the first error. */
  async follow(following: Following): Promise<void> {
    await Promise.all([
      ...this.#automations.follow(keepResource, following),
      ...this.#webhooks.follow(keepResource, following),
      ...this.#namespaces.follow(
        (namespace): NamespaceOrganization => [namespace.metadata?.name ?? '', organizationOf(namespace)],
        following,
      ),
    ]);
  }
}

function inEach(namespaces: readonly string[]): string[] {
  return namespaces.length === 0 ? [''] : namespaces.map((name) => `namespaces/${encodeURIComponent(name)}/`);
}

interface ManagedManifest extends ResourceManifest {
  readonly metadata?: ResourceManifest['metadata'] & {
    readonly managedFields?: readonly { readonly subresource?: string; readonly time?: string }[];
  };
}

/** Drops labels, annotations and managed fields, but the time of the last write of the status. */
function keepResource({ metadata = {}, spec, status }: ManagedManifest): ResourceManifest {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, managedFields = [] } = metadata;
  const writes = managedFields.flatMap(({ subresource, time }) => (subresource === 'status' ? (time ?? []) : []));
  const identity = { name, namespace, uid, resourceVersion, generation, creationTimestamp };
  return {
    metadata: Object.fromEntries(Object.entries(identity).filter(([, value]) => value !== undefined)),
    spec,
    ...(status && { status }),
    statusAt: writes.toSorted().at(-1),
  };
}
