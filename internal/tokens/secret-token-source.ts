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
import { authenticateIn, type Authentication, type TokenSource } from './token-source.ts';

export interface SecretTokenSourceOptions {
  readonly connect: ConnectToCluster;
  /** Undefined takes the namespace of the account. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
  readonly logger: Logger;
  readonly metrics: TokenMetrics;
  readonly times?: Partial<SecretTokenSourceTimes>;
}

export interface SecretTokenSourceTimes extends SecretWatchTimes {
  /** Age at which the list is made anew, in milliseconds. */
  readonly relistMs: number;
  /** How long changes are gathered before the set is built again, in milliseconds. */
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
 * Tokens from the Secrets of one namespace, followed for as long as the process lives. When the API
 * server cannot be reached the last set stays in force. Each attempt has a connection, a list and a
 * watch of its own, and ends with all of them, when a new list is due or something went wrong.
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

  /**
   * Begins to follow the Secrets. Does not wait for them: an API server that is away is a matter of
   * readiness.
   */
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
        // An attempt that held for long was a good one, so its failure is the first.
        if (performance.now() - began > this.#times.backoff.longestMs) this.#backoff.reset();
        const pauseMs = Math.round(this.#backoff.next());
        metrics.watchRestarts.inc();
        logger.warn({ error, pauseMs, serving: this.#set !== undefined }, 'token watch failed, starting anew');
        await sleep(pauseMs, undefined, { signal: stopping }).catch(() => undefined);
      }
    }
  }

  /** One connection, one list, one watch. Resolves when the next list is due. */
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
