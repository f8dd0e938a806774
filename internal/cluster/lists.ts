import type { ClusterAccess } from './cluster-access.ts';
import { follow, type FollowTimes, type ObjectCache } from './follow.ts';
import type { KubernetesObject } from './object.ts';
import { Resource, type ResourceQuery } from './resource.ts';

/** How to follow lists, until `end` is aborted. */
export interface Following {
  readonly access: ClusterAccess;
  readonly onChange: () => void;
  readonly times: FollowTimes;
  readonly end: AbortSignal;
}

/** The lists of one kind: one per namespace, or one of all namespaces. */
export class Lists<T extends KubernetesObject, Kept> {
  readonly #queries: readonly ResourceQuery[];
  readonly #lists: (ReadonlyMap<string, Kept> | undefined)[];

  constructor(queries: readonly ResourceQuery[]) {
    this.#queries = queries;
    this.#lists = queries.map(() => undefined);
  }

  get complete(): boolean {
    return this.#lists.every((list) => list !== undefined);
  }

  /** The object with this `namespace/name`, if any list has it. */
  get(key: string): Kept | undefined {
    return this.#lists.find((list) => list?.has(key))?.get(key);
  }

  objects(): Kept[] {
    return this.#lists.flatMap((list) => [...(list?.values() ?? [])]);
  }

  /**
   * Each of these promises follows one list. `keep` receives each version of each object.
   * `isChange`: see ObjectCache.
   */
  follow(
    keep: (object: T) => Kept,
    { access, onChange, times, end }: Following,
    isChange?: ObjectCache<Kept>['isChange'],
  ): Promise<void>[] {
    return this.#queries.map((query, index) => {
      const onList = (list: ReadonlyMap<string, Kept>): void => {
        this.#lists[index] = list;
        onChange();
      };
      const cache: ObjectCache<Kept> = { onList, onChange, isChange };
      return follow(new Resource<T>(access, query), keep, cache, times, end);
    });
  }
}

/** A kind of resources: `apis/batch/v1` and `Jobs`. */
export interface ListedKind {
  readonly group: string;
  /** Names the objects in error messages. */
  readonly plural: string;
  readonly labelSelector?: string;
}

/** The queries of a kind in these namespaces; in all namespaces if none are given. */
export function queriesIn(
  namespaces: readonly string[],
  { group, plural, labelSelector }: ListedKind,
): ResourceQuery[] {
  const below = namespaces.length === 0 ? [''] : namespaces.map((name) => `namespaces/${encodeURIComponent(name)}/`);
  return below.map((place) => ({ plural, path: `/${group}/${place}${plural.toLowerCase()}`, labelSelector }));
}

/** The queries of these namespace objects; of all with the label if none are given. */
export function namespacesQueries(namespaces: readonly string[], labelSelector: string): ResourceQuery[] {
  const query = { plural: 'Namespaces', path: '/api/v1/namespaces', labelSelector };
  if (namespaces.length === 0) return [query];
  return namespaces.map((name) => ({ ...query, fieldSelector: `metadata.name=${name}` }));
}
