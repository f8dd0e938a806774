import type { ClusterAccess, ConnectToCluster } from '../cluster-access.ts';
import { EventReporter } from '../event-reporter.ts';
import { createEvent } from '../events.ts';
import { follow } from '../follow.ts';
import { Resource } from '../resource.ts';
import { Settling } from '../settling.ts';
import { defaultTimes, Supervision, type SupervisionTimes } from '../supervision.ts';
import type { Logger } from '../../kit/telemetry/logger.ts';
import type { TokenMetrics } from './token-metrics.ts';
import { defaultLabelSelector, organizationLabelOf } from './label-selector.ts';
import { refusalEvents } from './refusal-events.ts';
import type { SecretManifest } from '../secret.ts';
import { showTokenSet } from './token-gauges.ts';
import { digestSecret, mergeDigests, type SecretDigests, type TokenSet } from './token-set.ts';
import { HeldTokens, type TokenSource } from './token-source.ts';
import { messageOf } from '../../kit/errors/message-of.ts';

export interface SecretTokenSourceOptions {
  readonly connect: ConnectToCluster;
  /** Undefined selects the namespace of the account. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
  readonly logger: Logger;
  readonly metrics: TokenMetrics;
  readonly times?: Partial<SupervisionTimes>;
}

/**
 * Follows the token Secrets of one namespace. While the API server is unavailable, the last set
 * stays in use.
 */
export class SecretTokenSource extends HeldTokens implements TokenSource {
  readonly name = 'token secrets';
  readonly #options: SecretTokenSourceOptions;
  readonly #organizationLabel: string;
  readonly #times: SupervisionTimes;
  readonly #supervision: Supervision;
  readonly #reporter: EventReporter;
  #problem: string | undefined = 'the first list of Secrets is not complete';

  constructor(options: SecretTokenSourceOptions) {
    const { connect, logger, labelSelector = defaultLabelSelector } = options;
    super();
    this.#options = options;
    this.#organizationLabel = organizationLabelOf(labelSelector);
    this.#times = { ...defaultTimes, ...options.times };
    this.#supervision = new Supervision({
      connect,
      times: this.#times,
      attempt: (access, end, listed) => this.#follow(access, end, listed),
      onFailure: (error, pauseMs) => this.#failed(error, pauseMs),
    });
    this.#reporter = new EventReporter({
      logger,
      onNew: ({ involvedObject, message }) =>
        logger.warn({ secret: involvedObject.name, refusal: message }, 'tokens of a Secret refused'),
    });
  }

  /** Starts to follow the Secrets, with or without the API server. `unready` reports the state. */
  async start(): Promise<void> {
    this.#supervision.start();
  }

  async stop(): Promise<void> {
    await this.#supervision.stop();
    await this.#reporter.idle();
  }

  unready(): string | undefined {
    return this.set === undefined ? this.#problem : undefined;
  }

  #failed(error: unknown, pauseMs: number): void {
    const { logger, metrics } = this.#options;
    this.#problem = `Secrets cannot be read: ${messageOf(error)}`;
    metrics.watchRestarts.inc();
    logger.warn({ error, pauseMs, serving: this.set !== undefined }, 'token watch failed, restarting');
  }

  async #follow(access: ClusterAccess, end: AbortSignal, listed: () => Promise<void>): Promise<void> {
    const { labelSelector = defaultLabelSelector, namespace = access.namespace } = this.#options;
    if (namespace === undefined) throw new Error('no namespace is configured and the account has none');
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`;
    const resource = new Resource<SecretManifest>(access, { plural: 'Secrets', path, labelSelector });
    const digest = (secret: SecretManifest): SecretDigests => digestSecret(secret, this.#organizationLabel);
    let secrets: ReadonlyMap<string, SecretDigests> = new Map();
    let counts = false;
    const settling = new Settling(this.#times.settleMs, () => this.#take(mergeDigests(secrets.values()), access, end));
    const onList = (list: typeof secrets): void => {
      secrets = list;
      void listed().then(() => {
        if (end.aborted) return;
        counts = true;
        settling.now();
        this.#listed(list.size);
      });
    };
    const onChange = (): void => {
      if (counts) settling.changed();
    };
    try {
      await follow(resource, digest, { onList, onChange }, this.#times, end);
    } finally {
      settling.flush();
    }
  }

  #take(set: TokenSet, access: ClusterAccess, end: AbortSignal): void {
    this.set = set;
    showTokenSet(this.#options.metrics, set);
    this.#reporter.report(refusalEvents(set.refusals), (event) => createEvent(access, event, end), end);
  }

  #listed(secrets: number): void {
    this.#options.metrics.listedAt.setToCurrentTime();
    if (this.#problem !== undefined) this.#options.logger.info({ secrets }, 'token Secrets loaded');
    this.#problem = undefined;
  }
}
