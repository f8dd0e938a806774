import { HttpMethod, RequestContext } from '@kubernetes/client-node/dist/gen/http/http.js';
import { IsomorphicFetchHttpLibrary } from '@kubernetes/client-node/dist/gen/http/isomorphic-fetch.js';
import { Watch } from '@kubernetes/client-node/dist/watch.js';
import { ApiError } from './api-error.ts';
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
  /** Called for each frame, until the promise of `watch` settles. Must not throw: the library would hide it. */
  readonly onFrame: (frame: WatchFrame) => void;
  /** Ends the watch. Its connection ends with the ClusterAccess. */
  readonly signal: AbortSignal;
}

/** One frame of the watch protocol, other than an error. A bookmark carries nothing but a resourceVersion. */
export interface WatchFrame {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly secret: SecretManifest;
}

const pageSize = 500;

/** The calls that the token source makes to the API server. The pod's Role allows these and nothing else. */
export class SecretApi {
  readonly #access: ClusterAccess;
  readonly #path: string;
  readonly #query: SecretQuery;
  readonly #http = new IsomorphicFetchHttpLibrary();

  constructor(access: ClusterAccess, query: SecretQuery) {
    this.#access = access;
    this.#query = query;
    this.#path = `/api/v1/namespaces/${encodeURIComponent(query.namespace)}`;
  }

  /** One page of the list. Throws an ApiError, or the error of the connection. */
  async list(next: string | undefined, signal: AbortSignal): Promise<SecretPage> {
    const query = { labelSelector: this.#query.labelSelector, limit: pageSize, ...(next && { continue: next }) };
    const text = await this.#send('list Secrets', HttpMethod.GET, 'secrets', { query, signal });
    const list = parse(text) as {
      items?: SecretManifest[];
      metadata?: { resourceVersion?: string; continue?: string };
    };
    const { resourceVersion = '', continue: rest = '' } = list.metadata ?? {};
    return { secrets: list.items ?? [], resourceVersion, next: rest === '' ? undefined : rest };
  }

  /** Posts an Event. One of the same name that is there already is as good: another pod was faster. */
  async createEvent(event: object, signal: AbortSignal): Promise<void> {
    try {
      await this.#send('create Event', HttpMethod.POST, 'events', { body: JSON.stringify(event), signal });
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409)) throw error;
    }
  }

  /**
   * Watches until the server or `signal` ends it or it falls silent: then resolves, and the caller goes on from the
   * last version it saw. Rejects when the watch could not be opened, broke, or was told an error such as 410.
   *
   * A frame that is not JSON is dropped by the library without a word: the next full list makes up for it.
   */
  watch({ resourceVersion, idleMs, onFrame, signal }: SecretWatchOptions): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let open = false;
    let over = false;
    const finish = (error: unknown): void => {
      over = true;
      if (error === null || error === undefined || (open && isTimeout(error))) resolve();
      else reject(describe(error));
    };
    signal.addEventListener('abort', () => finish(undefined));
    const query = { labelSelector: this.#query.labelSelector, resourceVersion, allowWatchBookmarks: true };
    this.#newWatch(idleMs)
      .watch(
        `${this.#path}/secrets`,
        query,
        (type, object) => {
          open = true;
          if (over) return;
          if (type === 'ERROR') finish(new ApiError('watch Secrets', object?.code ?? 500, object?.message ?? ''));
          else onFrame({ type: type as WatchFrame['type'], secret: object });
        },
        finish,
      )
      .then(() => (open = true), finish);
    return promise;
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

  async #send(action: string, method: HttpMethod, resource: string, options: SendOptions): Promise<string> {
    const request = new RequestContext(`${this.#access.server}${this.#path}/${resource}`, method);
    for (const [name, value] of Object.entries(options.query ?? {})) request.setQueryParam(name, String(value));
    if (options.body !== undefined) {
      request.setHeaderParam('Content-Type', 'application/json');
      request.setBody(options.body);
    }
    request.setSignal(options.signal);
    await this.#access.authenticate(request);
    try {
      const response = await this.#http.send(request).toPromise();
      const text = await response.body.text();
      if (response.httpStatusCode >= 300) throw new ApiError(action, response.httpStatusCode, reasonOf(text));
      return text;
    } catch (error) {
      throw describe(error);
    }
  }
}

interface SendOptions {
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** JSON.parse quotes what it cannot read, and that may be a token. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('the API server sent a list that is not JSON');
  }
}

/** The message of a Kubernetes Status; nothing of an answer of any other kind. */
function reasonOf(text: string): string {
  try {
    const status = JSON.parse(text) as { kind?: unknown; message?: unknown };
    return status.kind === 'Status' && typeof status.message === 'string' ? status.message : '';
  } catch {
    return '';
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

/** `fetch failed` says nothing: what matters is its cause. */
function describe(error: unknown): unknown {
  if (error instanceof TypeError && error.cause instanceof Error) return error.cause;
  return error;
}
