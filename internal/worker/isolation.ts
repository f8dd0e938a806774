import type { AcceptedEvent } from '../event/event.ts';
import type { StoredBatch } from '../outcome/change.ts';
import { describeError, type Logger } from '../telemetry/logger.ts';
import type { StoreMetrics } from '../telemetry/worker-metrics.ts';
import type { EventStore } from './event-store.ts';

/**
 * Stores a batch as a whole. When Postgres refuses what an event holds, halves the batch until the bad one is
 * alone and keeps it as a dead letter; its neighbours are stored. Rejects when the batch should be tried again: what
 * has been stored by then is ignored as duplicate. Resolves with the number of events that were there already.
 */
export async function storeIsolating(
  store: EventStore,
  events: readonly AcceptedEvent[],
  metrics: StoreMetrics,
  logger: Logger,
): Promise<number> {
  try {
    return await storeWhole(store, events, metrics);
  } catch (error) {
    if (!store.isDataError(error)) throw error;
    const [only] = events;
    if (events.length === 1 && only !== undefined) {
      return bury(store, only, error, metrics, logger);
    }
    const middle = Math.ceil(events.length / 2);
    const first = await storeIsolating(store, events.slice(0, middle), metrics, logger);
    return first + (await storeIsolating(store, events.slice(middle), metrics, logger));
  }
}

async function storeWhole(store: EventStore, events: readonly AcceptedEvent[], metrics: StoreMetrics): Promise<number> {
  metrics.batchSize.observe(events.length);
  const stopTimer = metrics.statementSeconds.startTimer();
  const batch = await store.recordEvents(events).finally(stopTimer);
  count(batch, events, metrics);
  return events.length - batch.stored;
}

function count(batch: StoredBatch, events: readonly AcceptedEvent[], metrics: StoreMetrics): void {
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

/** Resolves with the number of duplicates: a letter that is there already has been counted. */
async function bury(
  store: EventStore,
  event: AcceptedEvent,
  error: unknown,
  metrics: StoreMetrics,
  logger: Logger,
): Promise<number> {
  const { message, code = 'unknown' } = describeError(error);
  if (!(await store.keepDeadLetter(event, `${code}: ${message}`))) {
    metrics.duplicates.inc();
    return 1;
  }
  metrics.deadLetters.inc({ reason: code });
  const { id, organization } = event;
  logger.error({ id, organization, reason: code }, 'event kept as dead letter: postgres refuses what it holds');
  return 0;
}
