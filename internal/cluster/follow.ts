import { keyOf, type KubernetesObject } from './object.ts';
import type { Resource, WatchFrame } from './resource.ts';

export interface FollowTimes {
  /** Longest duration of one page of a list, in ms. */
  readonly listTimeoutMs: number;
  /** Longest silence of a watch, in ms. Bookmarks come about once a minute. */
  readonly idleMs: number;
  /** A watch that the server closes sooner (ms) counts as failed, which prevents a hot loop. */
  readonly shortestWatchMs: number;
}

/** Receives the objects of one kind, by `namespace/name`. */
export interface ObjectCache<Kept> {
  /** Receives the whole list, which replaces the earlier one. */
  onList(objects: ReadonlyMap<string, Kept>): void;
  /** Called after a change of the map that `onList` received last. */
  onChange(): void;
  /** False if a new version of an object is no change. Default: every version is one. */
  isChange?: ((before: Kept | undefined, after: Kept) => boolean) | undefined;
}

/**
 * Lists all objects, then follows their changes. Resolves when `signal` is aborted. Rejects after
 * any error; the caller then starts over with a list. Keeps only what `keep` returns, while the
 * library's informer would keep whole objects.
 */
export async function follow<T extends KubernetesObject, Kept>(
  resource: Resource<T>,
  keep: (object: T) => Kept,
  cache: ObjectCache<Kept>,
  times: FollowTimes,
  signal: AbortSignal,
): Promise<void> {
  const objects = new Map<string, Kept>();
  /** Returns whether it is a change. */
  const remember = (object: T): boolean => {
    const [key, after] = [keyOf(object), keep(object)];
    const before = objects.get(key);
    objects.set(key, after);
    return cache.isChange?.(before, after) ?? true;
  };

  let resourceVersion = await listAll(resource, remember, times.listTimeoutMs, signal);
  cache.onList(objects);

  const onFrame = ({ type, object }: WatchFrame<T>): void => {
    resourceVersion = object.metadata?.resourceVersion ?? resourceVersion;
    if (type === 'BOOKMARK') return;
    const changed = type === 'DELETED' ? objects.delete(keyOf(object)) : remember(object);
    if (changed) cache.onChange();
  };
  while (!signal.aborted) {
    const opened = performance.now();
    const end = await resource.watch({ resourceVersion, idleMs: times.idleMs, onFrame, signal });
    if (end === 'closed' && performance.now() - opened < times.shortestWatchMs) {
      throw new Error('the API server closed the watch at once');
    }
  }
}

/** Reads every page. Resolves with the version of the whole list. */
async function listAll<T extends KubernetesObject>(
  resource: Resource<T>,
  remember: (object: T) => unknown,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string> {
  let next: string | undefined;
  for (;;) {
    const page = await resource.list(next, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
    for (const object of page.objects) remember(object);
    if (page.next === undefined) return page.resourceVersion;
    next = page.next;
  }
}
