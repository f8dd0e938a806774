import type { AcceptedEvent } from '../event/event.ts';
import type { ProducerLoad, ProducerMetrics } from '../telemetry/producer-metrics.ts';
import type { SpanContext } from '../telemetry/tracing.ts';
import { jobName } from './queue-stats.ts';
import { GroupCommit, type Callers, type GroupCommitLimits } from './group-commit.ts';
import { encodeJob } from './job-encoder.ts';
import { QueueConnection, type QueueConnectionOptions } from './queue-connection.ts';

export interface LaneOptions extends QueueConnectionOptions {
  limits: GroupCommitLimits;
  callers: Callers;
  metrics: ProducerMetrics;
  /** Runs before the job of a commit is added; an error fails the commit. */
  before?: (events: readonly AcceptedEvent[]) => Promise<void>;
}

/** A queue and the group commit to it. */
export class Lane {
  readonly #options: LaneOptions;
  readonly #queue: QueueConnection;
  readonly #groupCommit: GroupCommit;
  /** The active span of each event when it was added. */
  readonly #points = new WeakMap<AcceptedEvent, SpanContext>();

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#queue = new QueueConnection(options);
    this.#groupCommit = new GroupCommit((events) => this.#commit(events), options.limits, options.callers);
  }

  /** The commits and events under way. */
  get load(): ProducerLoad {
    const { inFlight, buffered } = this.#groupCommit;
    return { inFlight, buffered };
  }

  /** Opens the queue if Redis is available; otherwise the first commit opens it. */
  async start(): Promise<void> {
    await this.#queue.open().catch(() => undefined);
  }

  /** Finishes the commits under way, then closes the queue. */
  async stop(): Promise<void> {
    await this.#groupCommit.drain();
    await this.#queue.close();
  }

  /** Puts the events into one commit; see {@link GroupCommit.add}. */
  add(events: readonly AcceptedEvent[]): Promise<void> {
    const point = this.#options.tracing?.currentSpan();
    const [first] = events;
    if (point !== undefined && first !== undefined) this.#points.set(first, point);
    return this.#groupCommit.add(events);
  }

  async #commit(events: AcceptedEvent[]): Promise<void> {
    const { metrics, logger, before } = this.#options;
    const begun = performance.now();
    metrics.batchSize.add(events.length);
    try {
      await before?.(events);
      await this.#traced(events, () => this.#add(events));
      for (const { organization, kind } of events) metrics.accepted.add(metrics.organization(organization), kind);
    } catch (error) {
      logger.warn({ error, events: events.length }, 'commit to redis failed');
      throw error;
    } finally {
      metrics.commitSeconds.add((performance.now() - begun) / 1_000);
    }
  }

  async #add(events: AcceptedEvent[]): Promise<void> {
    const queue = await this.#queue.open();
    await queue.add(jobName(events.length), encodeJob(events));
  }

  #traced(events: AcceptedEvent[], work: () => Promise<void>): Promise<void> {
    const { tracing } = this.#options;
    if (tracing === undefined) return work();
    const points = events.flatMap((event) => this.#points.get(event) ?? []);
    return tracing.continue('commit events', points, { 'messaging.batch.message_count': events.length }, work);
  }
}
