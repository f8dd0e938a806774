import type { ClusterAccess, ConnectToCluster } from '../../cluster/cluster-access.ts';
import { EventReporter } from '../../cluster/event-reporter.ts';
import { createEvent } from '../../cluster/events.ts';
import { Settling } from '../../cluster/settling.ts';
import { defaultTimes, Supervision, type SupervisionTimes } from '../../cluster/supervision.ts';
import type { Database } from '../../store/database.ts';
import type { AutomationMetrics } from './automation-metrics.ts';
import type { Logger } from '../../kit/telemetry/logger.ts';
import { acceptanceEvents } from './acceptance-events.ts';
import { showAcceptances } from './acceptance-gauges.ts';
import { ClusterView } from './cluster-view.ts';
import { declare, type Acceptance } from './declare.ts';
import type { Declarations, DeclarationSource, UnstoredResource } from './declarations.ts';
import { KnownAutomations } from './known-automations.ts';
import { SecretPoll } from './secret-poll.ts';
import { StatusWriter } from './status-writer.ts';
import { UnstoredResources } from './unstored.ts';
import { messageOf } from '../../kit/errors/message-of.ts';

export interface ClusterSourceOptions {
  readonly connect: ConnectToCluster;
  /** All namespaces if empty. */
  readonly namespaces: readonly string[];
  /** The source of the verdicts and executions in the status. */
  readonly db: Database;
  /** With several databases: returns the database of an organization. */
  readonly databaseOf?: ((organization: string) => Database) | undefined;
  readonly logger: Logger;
  readonly metrics: AutomationMetrics;
  readonly times?: Partial<ClusterSourceTimes>;
}

export interface ClusterSourceTimes extends SupervisionTimes {
  /** Interval between two reads of a Secret, in ms. */
  readonly secretMs: number;
  /** Maximum age of a status whose conditions do not change, in ms. */
  readonly statusMs: number;
}

/**
 * Follows the resources `Automation` and `Channel` of a cluster, the organizations of their
 * namespaces, and the Secrets of channels. It posts Events about refused resources and writes their
 * status.
 */
export class ClusterDeclarationSource implements DeclarationSource {
  readonly name = 'automation resources';
  readonly #options: ClusterSourceOptions;
  readonly #times: ClusterSourceTimes;
  readonly #supervision: Supervision;
  readonly #secrets: SecretPoll;
  readonly #reporter: EventReporter;
  readonly #status: StatusWriter;
  readonly #known = new KnownAutomations();
  readonly #unstored = new UnstoredResources();
  #declarations: Declarations | undefined;
  /** As the resources were read. */
  #read: readonly Acceptance[] = [];
  #acceptances: readonly Acceptance[] = [];
  /** Connection and end of the current attempt, once all lists are read. */
  #attempt: { access: ClusterAccess; end: AbortSignal } | undefined;
  #writing: Promise<void> | undefined;
  #problem: string | undefined = 'the first list of Automations is not complete';

  constructor(options: ClusterSourceOptions) {
    const { connect, logger } = options;
    this.#options = options;
    this.#times = { ...defaultTimes, secretMs: 60_000, statusMs: 300_000, ...options.times };
    this.#supervision = new Supervision({
      connect,
      times: this.#times,
      attempt: (access, end, listed) => this.#follow(access, end, listed),
      onFailure: (error, pauseMs) => this.#failed(error, pauseMs),
    });
    this.#secrets = new SecretPoll(this.#times.secretMs, this.#times.listTimeoutMs);
    this.#reporter = new EventReporter({
      logger,
      onNew: ({ reason, message, involvedObject: { kind, namespace, name } }) =>
        logger.warn({ kind, namespace, name, reason, refusal: message }, 'declaration refused'),
    });
    this.#status = new StatusWriter({ ...options, statusMs: this.#times.statusMs });
  }

  /** Starts to follow the resources, even while the API server is unavailable. */
  async start(): Promise<void> {
    this.#supervision.start();
  }

  async stop(): Promise<void> {
    await this.#supervision.stop();
    await this.#reporter.idle();
    await this.idle();
  }

  /** Resolves when no status is being written. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  unready(): string | undefined {
    return this.#declarations === undefined ? this.#problem : undefined;
  }

  current(): Declarations | undefined {
    return this.#problem === undefined ? this.#declarations : undefined;
  }

  secretsOf({ namespace, name }: { namespace: string; name: string }): readonly string[] {
    const declared = this.#declarations?.channels.find(
      (channel) => channel.namespace === namespace && channel.name === name,
    );
    const found = declared && this.#secrets.keysOf(namespace, declared.secretRef);
    return found !== undefined && 'keys' in found ? found.keys : [];
  }

  refuse(resources: readonly UnstoredResource[]): void {
    this.#unstored.add(resources, this.#read);
    if (this.#attempt !== undefined) this.#show(this.#attempt);
  }

  afterTick(): void {
    const attempt = this.#attempt;
    if (attempt === undefined || this.#writing !== undefined) return;
    this.#writing = this.#status.write(this.#acceptances, attempt.access, attempt.end).finally(() => {
      this.#writing = undefined;
    });
  }

  #failed(error: unknown, pauseMs: number): void {
    const { logger, metrics } = this.#options;
    this.#problem = `automations cannot be read: ${messageOf(error)}`;
    metrics.watchRestarts.inc();
    logger.warn({ error, pauseMs, serving: this.#declarations !== undefined }, 'automation watch failed, restarting');
  }

  async #follow(access: ClusterAccess, end: AbortSignal, listed: () => Promise<void>): Promise<void> {
    const view = new ClusterView(this.#options.namespaces, this.#known);
    const settling = new Settling(this.#times.settleMs, () => this.#take(view, access, end));
    let listing: Promise<void> | undefined;
    let counts = false;
    const onChange = (): void => {
      if (counts) settling.changed();
      else if (view.complete) {
        listing ??= listed().then(() => {
          counts = !end.aborted;
          if (counts) settling.changed();
        });
      }
    };
    try {
      await Promise.all([
        view.follow({ access, onChange, times: this.#times, end }),
        this.#secrets.follow(access, onChange, end),
      ]);
    } finally {
      settling.flush();
      if (this.#attempt?.access === access) this.#attempt = undefined;
    }
  }

  #take(view: ClusterView, access: ClusterAccess, end: AbortSignal): void {
    const { logger, metrics } = this.#options;
    const { automations, channels, organizations, silent } = view;
    const keysOf = (namespace: string, secret: string) => this.#secrets.keysOf(namespace, secret);
    const { declarations, acceptances } = declare({ automations, channels, organizations, silent, keysOf });
    this.#known.keep(automations);
    this.#declarations = declarations;
    this.#read = acceptances;
    this.#secrets.want(
      new Set(declarations.channels.map(({ namespace, secretRef }) => `${namespace}/${secretRef}` as const)),
    );
    if (this.#attempt?.access !== access) metrics.listedAt.setToCurrentTime();
    this.#attempt = { access, end };
    if (this.#problem !== undefined)
      logger.info({ automations: declarations.automations.length }, 'automations loaded');
    this.#problem = undefined;
    this.#show({ access, end });
  }

  /** Shows what is accepted in metrics and Events, and in the status after the next tick. */
  #show({ access, end }: { access: ClusterAccess; end: AbortSignal }): void {
    this.#acceptances = this.#unstored.applyTo(this.#read);
    showAcceptances(this.#options.metrics, this.#acceptances);
    this.#reporter.report(acceptanceEvents(this.#acceptances), (event) => createEvent(access, event, end), end);
  }
}
