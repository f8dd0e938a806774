import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { ApiError } from './api-error.ts';
import { reasonOf, sendRequest } from './api-request.ts';
import type { ClusterAccess } from './cluster-access.ts';
import type { KubernetesObject } from './object.ts';
import { openRequest } from './open-request.ts';

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
  /** Called for each frame until the promise of `watch` settles. Must not throw. */
  readonly onFrame: (frame: WatchFrame<T>) => void;
  /** Ends the watch. Its connection ends with the ClusterAccess. */
  readonly signal: AbortSignal;
}

/** A frame of the watch protocol other than an error. A bookmark has a resourceVersion only. */
export interface WatchFrame<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}

/** The reason why a watch ended. */
export type WatchEnd = 'closed' | 'silent' | 'aborted';

const pageSize = 500;

/** Lists and watches the objects of one kind. */
export class Resource<T extends KubernetesObject> {
  readonly #access: ClusterAccess;
  readonly #path: string;
  readonly #plural: string;
  readonly #selectors: Readonly<Record<string, string>>;

  constructor(access: ClusterAccess, { plural, path, labelSelector, fieldSelector }: ResourceQuery) {
    this.#access = access;
    this.#path = path;
    this.#plural = plural;
    this.#selectors = { ...(labelSelector && { labelSelector }), ...(fieldSelector && { fieldSelector }) };
  }

  /**
   * Returns one page of the list.
   * @throws {ApiError} when the server refuses the request; else the error of the connection.
   */
  async list(next: string | undefined, signal: AbortSignal): Promise<Page<T>> {
    const query = { ...this.#selectors, limit: pageSize, ...(next && { continue: next }) };
    const request = { action: `list ${this.#plural}`, path: this.#path, query, signal };
    const list = (await sendRequest(this.#access, request)) as ObjectList<T>;
    const { resourceVersion = '', continue: rest = '' } = list.metadata ?? {};
    return { objects: list.items ?? [], resourceVersion, next: rest === '' ? undefined : rest };
  }

  /**
   * Watches the objects. Resolves when the server or `signal` ends the watch, or when it falls
   * silent; the caller then continues from the last version. Rejects when the watch cannot be
   * opened, breaks, or receives an error such as 410.
   *
   * It drops a frame that is not JSON. The next full list corrects that.
   */
  async watch({ resourceVersion, idleMs, onFrame, signal }: WatchOptions<T>): Promise<WatchEnd> {
    const action = `watch ${this.#plural}`;
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(new Error(`${action}: no answer within ${idleMs} ms`)), idleMs);
    const end = AbortSignal.any([signal, silence.signal]);
    let open = false;
    try {
      const query = { ...this.#selectors, watch: true, resourceVersion, allowWatchBookmarks: true };
      const { status, body } = await openRequest(this.#access, { method: 'GET', path: this.#path, query, signal: end });
      if (status !== 200) throw new ApiError(action, status, reasonOf(await text(body)));
      open = true;
      timer.refresh();
      for await (const lines of linesOf(body)) {
        timer.refresh();
        for (const line of lines) takeFrame(action, line, onFrame);
      }
      return signal.aborted ? 'aborted' : 'closed';
    } catch (error) {
      if (signal.aborted) return 'aborted';
      if (open && silence.signal.aborted) return 'silent';
      end.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Yields the lines of a body as they arrive. It drops a last line without an end. */
async function* linesOf(body: Readable): AsyncGenerator<string[]> {
  let rest = '';
  for await (const part of body.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + part).split('\n');
    rest = lines.pop() ?? '';
    yield lines;
  }
}

/** @throws {ApiError} for a frame that says that the watch failed. */
function takeFrame<T>(action: string, line: string, onFrame: WatchOptions<T>['onFrame']): void {
  let frame;
  try {
    frame = JSON.parse(line) as { type: WatchFrame<T>['type'] | 'ERROR'; object: StatusOr<T> };
  } catch {
    return;
  }
  const { type, object } = frame;
  if (type === 'ERROR') throw new ApiError(action, object.code ?? 500, object.message ?? '');
  onFrame({ type, object });
}

interface ObjectList<T> {
  readonly items?: readonly T[];
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
}

type StatusOr<T> = T & { readonly code?: number; readonly message?: string };
