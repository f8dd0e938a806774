import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../telemetry/logger.ts';
import type { TokenMetrics } from '../telemetry/token-metrics.ts';
import { Backoff, type BackoffOptions } from '../async/backoff.ts';
import type { ClusterAccess, ConnectToCluster } from './cluster-access.ts';
import { defaultLabelSelector, organizationLabelOf } from './label-selector.ts';
import { RefusalReporter } from './refusal-reporter.ts';
import { SecretApi } from './secret-api.ts';
import { followSecrets, type SecretCache, type SecretWatchTimes } from './secret-watch.ts';
import { showTokenSet } from './token-gauges.ts';
import { TokenSetBuilder } from './token-set-builder.ts';
import type { TokenSet } from './token-set.ts';
import { authenticateDigestIn, authenticateIn, type Authentication, type TokenSource } from './token-source.ts';

export interface SecretTokenSourceOptions {
  readonly connect: ConnectToCluster;
  /** Undefined selects the namespace of the account. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
  readonly logger: Logger;
  readonly metrics: TokenMetrics;
  readonly times?: Partial<SecretTokenSourceTimes>;
}

export interface SecretTokenSourceTimes extends SecretWatchTimes {
  /** Interval of full lists, in ms. */
  readonly relistMs: number;
  /** Delay from a change to the new token set, in ms. Changes during the delay share one set. */
  readonly settleMs: number;
  readonly backoff: BackoffOptions;
}

const defaultTimes: SecretTokenSourceTimes = {
  relistMs: 300_000,
  listTimeoutMs: 30_000,
  idleMs: 30_000,
  shortestWatchMs: 1000,
  settleMs: 50,
  backoff: { firstMs: 1000, longestMs: 30_000 },
};

/**
 * Follows the token Secrets of one namespace. While the API server is unavailable, the last set
 * stays in use. Each attempt opens its own connection, lists and watches. It ends when the next
 * full list is due or after an error.
 */
export class SecretTokenSource implements TokenSource {
  readonly name = 'token secrets';
  readonly #options: SecretTokenSourceOptions;
  readonly #organizationLabel: string;
  readonly #times: SecretTokenSourceTimes;
  readonly #backoff: Backoff;
  readonly #reporter: RefusalReporter;
  readonly #stopping = new AbortController();
  #supervision: Promise<void> | undefined;
  #set: TokenSet | undefined;
  #problem: string | undefined = 'the first list of Secrets is not complete';

  constructor(options: SecretTokenSourceOptions) {
    this.#options = options;
    this.#organizationLabel = organizationLabelOf(options.labelSelector ?? defaultLabelSelector);
    this.#times = { ...defaultTimes, ...options.times };
    this.#backoff = new Backoff(this.#times.backoff);
    this.#reporter = new RefusalReporter(options.logger);
  }

  /** Starts to follow the Secrets, with or without the API server. `unready` reports the state. */
  async start(): Promise<void> {
    this.#supervision ??= this.#supervise(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#supervision;
    await this.#reporter.idle();
  }

  authenticate(token: string): Authentication {
    return authenticateIn(this.#set, token);
  }

  authenticateDigest(digest: string): Authentication {
    return authenticateDigestIn(this.#set, digest);
  }

  organizations(): readonly string[] {
    return this.#set?.organizations ?? [];
  }

  unready(): string | undefined {
    return this.#set === undefined ? this.#problem : undefined;
  }

  async #supervise(stopping: AbortSignal): Promise<void> {
    const { logger, metrics } = this.#options;
    while (!stopping.aborted) {
      const began = performance.now();
      try {
        await this.#attempt(stopping);
      } catch (error) {
        if (stopping.aborted) return;
        this.#problem = `Secrets cannot be read: ${error instanceof Error ? error.message : String(error)}`;
        // The attempt ran for long, so its failure counts as the first.
        if (performance.now() - began > this.#times.backoff.longestMs) this.#backoff.reset();
        const pauseMs = Math.round(this.#backoff.next());
        metrics.watchRestarts.inc();
        logger.warn({ error, pauseMs, serving: this.#set !== undefined }, 'token watch failed, restarting');
        await sleep(pauseMs, undefined, { signal: stopping }).catch(() => undefined);
      }
    }
  }

  /** Connects, lists and watches. Resolves when the next list is due. */
  async #attempt(stopping: AbortSignal): Promise<void> {
    const access = await this.#options.connect();
    const end = new AbortController();
    const abort = (): void => end.abort();
    const relist = setTimeout(abort, this.#times.relistMs);
    stopping.addEventListener('abort', abort);
    try {
      stopping.throwIfAborted();
      await this.#follow(access, end.signal);
    } finally {
      clearTimeout(relist);
      stopping.removeEventListener('abort', abort);
      end.abort();
      await access.close();
    }
  }

  async #follow(access: ClusterAccess, end: AbortSignal): Promise<void> {
    const { labelSelector = defaultLabelSelector, namespace = access.namespace } = this.#options;
    if (namespace === undefined) throw new Error('no namespace is configured and the account has none');
    const api = new SecretApi(access, { namespace, labelSelector });
    const builder = new TokenSetBuilder(this.#times.settleMs, (set) => {
      this.#set = set;
      showTokenSet(this.#options.metrics, set);
      this.#reporter.report(set.refusals, (event) => api.createEvent(event, end), end);
    });
    try {
      await followSecrets(api, this.#organizationLabel, this.#listening(builder), this.#times, end);
    } finally {
      builder.flush();
    }
  }

  #listening(builder: TokenSetBuilder): SecretCache {
    return {
      onList: (secrets) => {
        builder.onList(secrets);
        this.#options.metrics.listedAt.setToCurrentTime();
        if (this.#problem !== undefined) this.#options.logger.info({ secrets: secrets.size }, 'token Secrets loaded');
        this.#problem = undefined;
      },
      onChange: () => builder.onChange(),
    };
  }
}
