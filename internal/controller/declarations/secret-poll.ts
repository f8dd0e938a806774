import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../cluster/api-error.ts';
import { sendRequest } from '../../cluster/api-request.ts';
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import type { SecretManifest } from '../../cluster/secret.ts';
import { signingKeysOf, type SigningKeys } from './signing-keys.ts';

/** A Secret, as `namespace/name`. */
type SecretKey = `${string}/${string}`;

/**
 * Reads the Secrets that channels name, again after each interval. It needs the right to get these
 * Secrets only; a watch would need the right to list every Secret of the namespace.
 */
export class SecretPoll {
  readonly #intervalMs: number;
  readonly #timeoutMs: number;
  #wanted: ReadonlySet<SecretKey> = new Set();
  #new: SecretKey[] = [];
  #found = new Map<SecretKey, SigningKeys>();
  #wake = new AbortController();

  constructor(intervalMs: number, timeoutMs: number) {
    this.#intervalMs = intervalMs;
    this.#timeoutMs = timeoutMs;
  }

  /** The keys in a Secret; undefined until it is read. */
  keysOf(namespace: string, name: string): SigningKeys | undefined {
    return this.#found.get(`${namespace}/${name}`);
  }

  /** Sets the Secrets to read. New ones are read immediately. */
  want(wanted: ReadonlySet<SecretKey>): void {
    this.#wanted = wanted;
    this.#found = new Map([...this.#found].filter(([key]) => wanted.has(key)));
    this.#new = inTurns([...wanted].filter((key) => !this.#found.has(key)));
    if (this.#new.length > 0) this.#wake.abort();
  }

  /** Reads until `end` is aborted. Rejects when the API server does not answer. */
  async follow(access: ClusterAccess, onChange: () => void, end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      this.#wake = new AbortController();
      const known = inTurns(this.#wanted);
      const read = new Set<SecretKey>();
      while (!end.aborted) {
        // New ones first, including those added since this round began.
        const key = this.#new.shift() ?? known.shift();
        if (key === undefined) break;
        if (!this.#wanted.has(key) || read.has(key)) continue;
        read.add(key);
        const keys = await this.#read(access, key, end);
        if (JSON.stringify(keys) === JSON.stringify(this.#found.get(key))) continue;
        this.#found.set(key, keys);
        onChange();
      }
      const signal = AbortSignal.any([end, this.#wake.signal]);
      await sleep(this.#intervalMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #read(access: ClusterAccess, key: SecretKey, end: AbortSignal): Promise<SigningKeys> {
    const [namespace = '', name = ''] = key.split('/').map(encodeURIComponent);
    const path = `/api/v1/namespaces/${namespace}/secrets/${name}`;
    const signal = AbortSignal.any([end, AbortSignal.timeout(this.#timeoutMs)]);
    try {
      return signingKeysOf((await sendRequest(access, { action: 'get Secret', path, signal })) as SecretManifest);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 404) return { reason: 'SecretNotFound', problem: 'it does not exist' };
      if (error.status !== 403) throw error;
      return { reason: 'SecretForbidden', problem: 'the controller has no right to get it' };
    }
  }
}

/** One of each namespace, then the next of each: no namespace waits for all Secrets of another. */
function inTurns(keys: Iterable<SecretKey>): SecretKey[] {
  const byNamespace = Map.groupBy(keys, (key) => key.slice(0, key.indexOf('/')));
  const placed = [...byNamespace.values()].flatMap((own) => own.map((key, place) => ({ key, place })));
  return placed.toSorted((a, b) => a.place - b.place).map(({ key }) => key);
}
