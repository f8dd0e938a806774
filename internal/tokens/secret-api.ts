import type { RequestContext } from '@kubernetes/client-node/dist/gen/http/http.js';
import { Watch } from '@kubernetes/client-node/dist/watch.js';
import { ApiError } from './api-error.ts';
import { causeOf, sendRequest } from './api-request.ts';
import type { ClusterAccess } from './cluster-access.ts';
import type { SecretManifest } from './secret-manifest.ts';

/** Which Secrets. */
export interface SecretQuery {
  readonly namespace: string;
  readonly labelSelector: string;
}

export interface SecretPage {
  readonly secrets: readonly SecretManifest[];
  /** The version of the whole list, to watch from. */
  readonly resourceVersion: string;
  /** Given to the next `list`; undefined on the last page. */
  readonly next: string | undefined;
}

export interface SecretWatchOptions {
  readonly resourceVersion: string;
  /** A watch that says nothing for so long, in milliseconds, ends: its connection may be dead. */
  readonly idleMs: number;
  /**
   * Called for each frame, until the promise of `watch` settles. Must not throw: the library would
   * hide it.
   */
  readonly onFrame: (frame: WatchFrame) => void;
  /** Ends the watch. Its connection ends with the ClusterAccess. */
  readonly signal: AbortSignal;
}

/**
 * One frame of the watch protocol, other than an error. A bookmark carries nothing but a
 * resourceVersion.
 */
export interface WatchFrame {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly secret: SecretManifest;
}

/** How a watch came to its end. */
export type WatchEnd = 'closed' | 'silent' | 'aborted';

const pageSize = 500;

/**
 * The calls that the token source makes to the API server. The pod's Role allows these and nothing
 * else.
 */
export class SecretApi {
  readonly #access: ClusterAccess;
  readonly #path: string;
  readonly #query: SecretQuery;

  constructor(access: ClusterAccess, query: SecretQuery) {
    this.#access = access;
    this.#query = query;
    this.#path = `/api/v1/namespaces/${encodeURIComponent(query.namespace)}`;
  }

  /** One page of the list. Throws an ApiError, or the error of the connection. */
  async list(next: string | undefined, signal: AbortSignal): Promise<SecretPage> {
    const query = { labelSelector: this.#query.labelSelector, limit: pageSize, ...(next && { continue: next }) };
    const path = `${this.#path}/secrets`;
    const list = (await sendRequest(this.#access, { action: 'list Secrets', path, query, signal })) as SecretList;
    const { resourceVersion = '', continue: rest = '' } = list.metadata ?? {};
    return { secrets: list.items ?? [], resourceVersion, next: rest === '' ? undefined : rest };
  }

  /**
   * Posts an Event. One of the same name that is there already is as good: another pod was faster.
   */
  async createEvent(event: object, signal: AbortSignal): Promise<void> {
    try {
      await sendRequest(this.#access, { action: 'create Event', path: `${this.#path}/events`, body: event, signal });
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409)) throw error;
    }
  }

  /**
   * Watches until the server or `signal` ends it or it falls silent: then resolves, and the caller
   * goes on from the last version it saw. Rejects when the watch could not be opened, broke, or was
   * told an error such as 410.
   *
   * A frame that is not JSON is dropped by the library without a word: the next full list makes up
   * for it.
   */
  watch({ resourceVersion, idleMs, onFrame, signal }: SecretWatchOptions): Promise<WatchEnd> {
    const { promise, resolve, reject } = Promise.withResolvers<WatchEnd>();
    let open = false;
    let over = false;
    const finish = (error: unknown): void => {
      over = true;
      if (signal.aborted) resolve('aborted');
      else if (error === null || error === undefined) resolve('closed');
      else if (open && isTimeout(error)) resolve('silent');
      else reject(causeOf(error));
    };
    const onEvent = (type: string, object: StatusOrSecret): void => {
      open = true;
      if (over) return;
      if (type === 'ERROR') finish(new ApiError('watch Secrets', object.code ?? 500, object.message ?? ''));
      else onFrame({ type: type as WatchFrame['type'], secret: object });
    };
    signal.addEventListener('abort', finish);
    const query = { labelSelector: this.#query.labelSelector, resourceVersion, allowWatchBookmarks: true };
    this.#newWatch(idleMs)
      .watch(`${this.#path}/secrets`, query, onEvent, finish)
      .then(() => (open = true), finish);
    return promise.finally(() => signal.removeEventListener('abort', finish));
  }

  #newWatch(idleMs: number): Watch {
    // All that the library's Watch uses of a KubeConfig.
    const config = {
      getCurrentCluster: () => this.#access,
      applySecurityAuthentication: (request: RequestContext) => this.#access.authenticate(request),
    };
    const watch = new Watch(config as unknown as Watch['config']);
    watch['requestTimeoutMs'] = idleMs;
    return watch;
  }
}

interface SecretList {
  readonly items?: readonly SecretManifest[];
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
}

type StatusOrSecret = SecretManifest & { readonly code?: number; readonly message?: string };

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}
