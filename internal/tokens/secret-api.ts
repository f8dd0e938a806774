import type { RequestContext } from '@kubernetes/client-node/dist/gen/http/http.js';
import { Watch } from '@kubernetes/client-node/dist/watch.js';
import { ApiError } from './api-error.ts';
import { causeOf, sendRequest } from './api-request.ts';
import type { ClusterAccess } from './cluster-access.ts';
import type { SecretManifest } from './secret-manifest.ts';

/** Selects Secrets. */
export interface SecretQuery {
  readonly namespace: string;
  readonly labelSelector: string;
}

export interface SecretPage {
  readonly secrets: readonly SecretManifest[];
  /** The version of the whole list, at which a watch starts. */
  readonly resourceVersion: string;
  /** The argument of the next `list`; undefined on the last page. */
  readonly next: string | undefined;
}

export interface SecretWatchOptions {
  readonly resourceVersion: string;
  /** Longest silence of a watch, in ms. It then ends, because its connection may be dead. */
  readonly idleMs: number;
  /**
   * Called for each frame until the promise of `watch` settles. Must not throw: the library would
   * hide the error.
   */
  readonly onFrame: (frame: WatchFrame) => void;
  /** Ends the watch. Its connection ends with the ClusterAccess. */
  readonly signal: AbortSignal;
}

/** A frame of the watch protocol other than an error. A bookmark has a resourceVersion only. */
export interface WatchFrame {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly secret: SecretManifest;
}

/** The reason why a watch ended. */
export type WatchEnd = 'closed' | 'silent' | 'aborted';

const pageSize = 500;

/** The requests of the token source to the API server. The pod's Role allows no others. */
export class SecretApi {
  readonly #access: ClusterAccess;
  readonly #path: string;
  readonly #query: SecretQuery;

  constructor(access: ClusterAccess, query: SecretQuery) {
    this.#access = access;
    this.#query = query;
    this.#path = `/api/v1/namespaces/${encodeURIComponent(query.namespace)}`;
  }

  /**
   * Returns one page of the list.
   * @throws {ApiError} when the server refuses the request; else the error of the connection.
   */
  async list(next: string | undefined, signal: AbortSignal): Promise<SecretPage> {
    const query = { labelSelector: this.#query.labelSelector, limit: pageSize, ...(next && { continue: next }) };
    const path = `${this.#path}/secrets`;
    const list = (await sendRequest(this.#access, { action: 'list Secrets', path, query, signal })) as SecretList;
    const { resourceVersion = '', continue: rest = '' } = list.metadata ?? {};
    return { secrets: list.items ?? [], resourceVersion, next: rest === '' ? undefined : rest };
  }

  /** Posts an Event. Succeeds also if an Event of that name exists: another pod was faster. */
  async createEvent(event: object, signal: AbortSignal): Promise<void> {
    try {
      await sendRequest(this.#access, { action: 'create Event', path: `${this.#path}/events`, body: event, signal });
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409)) throw error;
    }
  }

  /**
   * Watches Secrets. Resolves when the server or `signal` ends the watch, or when it falls silent;
   * the caller then continues from the last version. Rejects when the watch cannot be opened,
   * breaks, or receives an error such as 410.
   *
   * The library drops a frame that is not JSON without an error. The next full list corrects that.
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
    // The library's Watch uses only these two methods of a KubeConfig.
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
