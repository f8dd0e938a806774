import { ApiError } from './api-error.ts';
import { AnswerTooLarge, causeOf, sendRequest } from './api-request.ts';
import { createWatch } from './client-node-quirks.ts';
import type { ClusterAccess } from './cluster-access.ts';
import type { KubernetesObject } from './object.ts';

/** Selects objects of one kind. */
export interface ResourceQuery {
  /** Names the objects in error messages: `Secrets`. */
  readonly plural: string;
  /** Path of the collection on the API server. */
  readonly path: string;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface Page<T> {
  readonly objects: readonly T[];
  /** The version of the whole list, at which a watch starts. */
  readonly resourceVersion: string;
  /** The argument of the next `list`; undefined on the last page. */
  readonly next: string | undefined;
}

export interface WatchOptions<T> {
  readonly resourceVersion: string;
  /** Longest silence of a watch, in ms. It then ends, because its connection may be dead. */
  readonly idleMs: number;
  /**
   * Called for each frame until the promise of `watch` settles. Must not throw: the library would
   * hide the error.
   */
  readonly onFrame: (frame: WatchFrame<T>) => void;
  /** Ends the watch. Its connection ends with the ClusterAccess. */
  readonly signal: AbortSignal;
}

/** A frame of the watch protocol other than an error. A bookmark has only a resourceVersion. */
export interface WatchFrame<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}

/** The reason why a watch ended. */
export type WatchEnd = 'closed' | 'silent' | 'aborted';

/** Objects of a page, as long as they fit into its bytes. */
const pageSize = 500;

/** Bytes of a page, which take several times as much memory as objects. */
const pageBytes = 4 * 1024 * 1024;

/** Lists and watches the objects of one kind. */
export class Resource<T extends KubernetesObject> {
  readonly #access: ClusterAccess;
  readonly #path: string;
  readonly #plural: string;
  readonly #selectors: Readonly<Record<string, string>>;
  #limit = pageSize;

  constructor(access: ClusterAccess, { plural, path, labelSelector, fieldSelector }: ResourceQuery) {
    this.#access = access;
    this.#path = path;
    this.#plural = plural;
    this.#selectors = { ...(labelSelector && { labelSelector }), ...(fieldSelector && { fieldSelector }) };
  }

  /**
   * Returns one page of the list. From the first page that is too large on, pages have fewer
   * objects.
   * @throws {ApiError} when the server refuses the request; else the error of the connection.
   */
  async list(next: string | undefined, signal: AbortSignal): Promise<Page<T>> {
    const query = { ...this.#selectors, limit: this.#limit, ...(next && { continue: next }) };
    const request = { action: `list ${this.#plural}`, path: this.#path, query, signal };
    const isOne = this.#limit === 1;
    let list: ObjectList<T>;
    try {
      list = (await sendRequest(this.#access, {
        ...request,
        ...(!isOne && { mostBytes: pageBytes }),
      })) as ObjectList<T>;
    } catch (error) {
      if (!(error instanceof AnswerTooLarge) || isOne) throw error;
      this.#limit = Math.ceil(this.#limit / 8);
      return this.list(next, signal);
    }
    const { resourceVersion = '', continue: rest = '' } = list.metadata ?? {};
    return { objects: list.items ?? [], resourceVersion, next: rest === '' ? undefined : rest };
  }

  /**
   * Watches the objects. Resolves when the server or `signal` ends the watch, or when it falls
   * silent; the caller then continues from the last version. Rejects when the watch cannot be
   * opened, breaks, or receives an error such as 410.
   *
   * The library drops a frame that is not JSON without an error. The next full list corrects that.
   */
  watch({ resourceVersion, idleMs, onFrame, signal }: WatchOptions<T>): Promise<WatchEnd> {
    const { promise, resolve, reject } = Promise.withResolvers<WatchEnd>();
    let open = false;
    let over = false;
    const finish = (error: unknown): void => {
      over = true;
      if (signal.aborted) resolve('aborted');
      else if (error === null || error === undefined) resolve('closed');
      else if (open && isTimeout(error)) resolve('silent');
      else reject(this.#refusalOf(error) ?? causeOf(error));
    };
    const onEvent = (type: string, object: StatusOr<T>): void => {
      open = true;
      if (over) return;
      if (type === 'ERROR') finish(new ApiError(`watch ${this.#plural}`, object.code ?? 500, object.message ?? ''));
      else onFrame({ type: type as WatchFrame<T>['type'], object });
    };
    signal.addEventListener('abort', finish);
    const query = { ...this.#selectors, resourceVersion, allowWatchBookmarks: true };
    const config = {
      getCurrentCluster: () => this.#access,
      applySecurityAuthentication: this.#access.authenticate.bind(this.#access),
    };
    createWatch(config, idleMs)
      .watch(this.#path, query, onEvent, finish)
      .then(() => (open = true), finish);
    return promise.finally(() => signal.removeEventListener('abort', finish));
  }

  /**
   * The ApiError of a refused watch: the library's own error has the status and says only
   * "Forbidden".
   */
  #refusalOf(error: unknown): ApiError | undefined {
    if (!(error instanceof Error) || !('statusCode' in error) || typeof error.statusCode !== 'number') return undefined;
    return new ApiError(`watch ${this.#plural}`, error.statusCode, error.message);
  }
}

interface ObjectList<T> {
  readonly items?: readonly T[];
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
}

type StatusOr<T> = T & { readonly code?: number; readonly message?: string };

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}
