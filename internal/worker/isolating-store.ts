import type { AcceptedEvent } from '../event/event.ts';
import type { StoredBatch } from '../event/outcome/stored-batch.ts';
import { describeError, type Logger } from '../kit/telemetry/logger.ts';
import type { StoreMetrics } from './worker-metrics.ts';
import type { EventStore } from './event-store.ts';

/** Stores batches, isolates events that Postgres rejects, and counts both. */
export class IsolatingStore {
  readonly #store: EventStore;
  readonly #metrics: StoreMetrics;
  readonly #logger: Logger;

  constructor(store: EventStore, metrics: StoreMetrics, logger: Logger) {
    this.#store = store;
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /**
   * Stores a batch. When Postgres rejects its data, halves the batch until the bad event is alone,
   * and moves that one to the dead letters. Resolves with the number of duplicates. Rejects if the
   * caller should retry the batch, whose stored events are then duplicates.
   */
  async store(events: readonly AcceptedEvent[]): Promise<number> {
    try {
      return await this.#storeWhole(events);
    } catch (error) {
      if (!this.#store.isDataError(error)) throw error;
      const [only] = events;
      if (events.length === 1 && only !== undefined) return this.#moveToDeadLetters(only, error);
      const middle = Math.ceil(events.length / 2);
      const duplicates = await this.store(events.slice(0, middle));
      return duplicates + (await this.store(events.slice(middle)));
    }
  }

  /** {@link EventStore.waitingForArchive} */
  waitingForArchive(error: unknown): ((event: AcceptedEvent) => boolean) | undefined {
    return this.#store.waitingForArchive(error);
  }

  async #storeWhole(events: readonly AcceptedEvent[]): Promise<number> {
    this.#metrics.batchSize.observe(events.length);
    const stopTimer = this.#metrics.statementSeconds.startTimer();
    const batch = await this.#store.recordEvents(events).finally(stopTimer);
    this.#count(batch, events);
    return events.length - batch.stored;
  }

  #count(batch: StoredBatch, events: readonly AcceptedEvent[]): void {
    const metrics = this.#metrics;
    const now = Date.now();
    metrics.progressAt.set(now / 1_000);
    metrics.stored.inc(batch.stored);
    metrics.duplicates.inc(events.length - batch.stored);
    for (const { organization, from, to, executions } of batch.transitions) {
      metrics.transitions.inc({ organization: metrics.organization(organization), from, to }, executions);
    }
    for (const [anomaly, executions] of Object.entries(batch.anomalies)) metrics.anomalies.inc({ anomaly }, executions);
    for (const event of events) metrics.lagSeconds.observe(Math.max(0, now - event.createdAt) / 1_000);
  }

  /** Returns 1, for a duplicate, if the dead letter already existed. */
  async #moveToDeadLetters(event: AcceptedEvent, error: unknown): Promise<number> {
    const { message, code = 'unknown' } = describeError(error);
    if (!(await this.#store.keepDeadLetter(event, `${code}: ${message}`))) {
      this.#metrics.duplicates.inc();
      return 1;
    }
    this.#metrics.deadLetters.inc({ reason: code });
    const { id, organization } = event;
    this.#logger.error({ id, organization, reason: code }, 'event moved to dead letters: postgres rejects its data');
    return 0;
  }
}
