import type { WatchFrame, SecretApi } from './secret-api.ts';
import type { SecretManifest } from './secret-manifest.ts';
import { digestSecret, type SecretDigests } from './token-set.ts';

export interface SecretWatchTimes {
  /** The longest that one page of a list may take, in milliseconds. */
  readonly listTimeoutMs: number;
  /** The longest silence of a watch, in milliseconds. Bookmarks come about once a minute. */
  readonly idleMs: number;
  /**
   * A watch that the server closes sooner than this, in milliseconds, counts as failed, so that
   * nothing can spin.
   */
  readonly shortestWatchMs: number;
}

export interface SecretCache {
  /** The whole list is here: this replaces all that was known. */
  onList(secrets: ReadonlyMap<string, SecretDigests>): void;
  /** Something changed in the map last given to `onList`. */
  onChange(): void;
}

/**
 * Lists all Secrets, then follows their changes until `signal` is aborted; then resolves. Rejects
 * when anything goes wrong, and the caller starts again with a list. Of each Secret only digests
 * are kept, which is why this is not the library's informer: its cache holds whole Secrets.
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

/** Every page, and the version that the list as a whole stands for. */
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
