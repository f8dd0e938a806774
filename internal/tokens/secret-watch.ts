import type { WatchFrame, SecretApi } from './secret-api.ts';
import type { SecretManifest } from './secret-manifest.ts';
import { digestSecret, type SecretDigests } from './token-set.ts';

export interface SecretWatchTimes {
  /** Longest duration of one page of a list, in ms. */
  readonly listTimeoutMs: number;
  /** Longest silence of a watch, in ms. Bookmarks come about once a minute. */
  readonly idleMs: number;
  /** A watch that the server closes sooner, in ms, counts as failed. This prevents a hot loop. */
  readonly shortestWatchMs: number;
}

export interface SecretCache {
  /** Receives the whole list, which replaces the earlier one. */
  onList(secrets: ReadonlyMap<string, SecretDigests>): void;
  /** Called after a change of the map that `onList` received last. */
  onChange(): void;
}

/**
 * Lists all Secrets, then follows their changes. Resolves when `signal` is aborted. Rejects after
 * any error, and the caller starts again with a list. It keeps only digests; the library's informer
 * would keep whole Secrets.
 */
export async function followSecrets(
  api: SecretApi,
  organizationLabel: string,
  cache: SecretCache,
  times: SecretWatchTimes,
  signal: AbortSignal,
): Promise<void> {
  const secrets = new Map<string, SecretDigests>();
  const remember = (secret: SecretManifest): void => {
    const digests = digestSecret(secret, organizationLabel);
    secrets.set(digests.secret.name, digests);
  };

  let resourceVersion = await listAll(api, remember, times.listTimeoutMs, signal);
  cache.onList(secrets);

  const onFrame = ({ type, secret }: WatchFrame): void => {
    resourceVersion = secret.metadata?.resourceVersion ?? resourceVersion;
    if (type === 'BOOKMARK') return;
    if (type === 'DELETED') secrets.delete(secret.metadata?.name ?? '');
    else remember(secret);
    cache.onChange();
  };
  while (!signal.aborted) {
    const opened = performance.now();
    const end = await api.watch({ resourceVersion, idleMs: times.idleMs, onFrame, signal });
    if (end === 'closed' && performance.now() - opened < times.shortestWatchMs) {
      throw new Error('the API server closed the watch at once');
    }
  }
}

/** Reads every page. Resolves with the version of the whole list. */
async function listAll(
  api: SecretApi,
  remember: (secret: SecretManifest) => void,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string> {
  let next: string | undefined;
  for (;;) {
    const page = await api.list(next, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
    page.secrets.forEach(remember);
    if (page.next === undefined) return page.resourceVersion;
    next = page.next;
  }
}
