import { batchBuckets, Counter, durationBuckets, Gauge, Histogram, type Registry, unknownAtFirst } from './metrics.ts';
import { createOrganizationLabel, defaultOrganizations, type OrganizationLabel } from './organization-label.ts';

export type ConsumerMetrics = ReturnType<typeof consumerMetrics>;
export type StoreMetrics = ReturnType<typeof storeMetrics>;
export type MaintenanceMetrics = ReturnType<typeof maintenanceMetrics>;

/** The metrics of jobs before they reach the store. */
export function consumerMetrics(registry: Registry) {
  const registers = [registry];
  return {
    stalled: new Counter({
      name: 'runledger_jobs_stalled_total',
      help: 'Jobs taken over from a worker that stopped renewing its lock (killed, or frozen). Nothing is lost.',
      registers,
    }),
    unreadable: new Counter({
      name: 'runledger_jobs_unreadable_total',
      help: 'Times a job could not be read and was put back. Rising: a newer release wrote it; update the workers.',
      registers,
    }),
    durable: unknownAtFirst(
      new Gauge({
        name: 'runledger_worker_redis_durable',
        help: 'As runledger_redis_durable, seen by a worker, which looks every 5 s: 0 when Redis may lose events.',
        registers,
      }),
    ),
  };
}

/** SQLSTATEs that a text or key may cause: a character, a value, a size. */
const likelyReasons = ['22021', '22P02', '54000'];

/** The metrics of the batcher and the store. */
export function storeMetrics(
  registry: Registry,
  organization: OrganizationLabel = createOrganizationLabel(defaultOrganizations),
) {
  const registers = [registry];
  const metrics = {
    /** The label value of an organization. */
    organization,
    stored: new Counter({
      name: 'runledger_events_stored_total',
      help: 'Events inserted into Postgres. 0 per second while jobs wait: see runledger_store_retrying.',
      registers,
    }),
    duplicates: new Counter({
      name: 'runledger_events_duplicate_total',
      help: 'Events that were there already, and so were ignored: repeated statements and Idempotency-Keys, and redelivered jobs.',
      registers,
    }),
    redelivered: new Counter({
      name: 'runledger_events_redelivered_total',
      help: 'Those of runledger_events_duplicate_total that came with a job delivered again after a worker gave it back or died. Reconciliation leaves them out: the first delivery has counted them.',
      registers,
    }),
    deadLetters: new Counter({
      name: 'runledger_events_dead_lettered_total',
      help: 'Events Postgres refused for what they hold, kept in the table dead_letters. Always look at one.',
      labelNames: ['reason'] as const,
      registers,
    }),
    transitions: new Counter({
      name: 'runledger_execution_transitions_total',
      help: 'Executions whose state changed, by organization and states ("none" for a new one), in the order in which workers stored the events. To "failed" from "succeeded": an ERROR was stored after END, which with several workers need not be how they came; failed_at and ended_at in the table executions are exact.',
      labelNames: ['organization', 'from', 'to'] as const,
      registers,
    }),
    anomalies: new Counter({
      name: 'runledger_execution_anomalies_total',
      help: 'Executions whose events break the order, by anomaly, counted when a batch shows it, in the order in which workers stored the events; start_missing when the first END is stored and no START is there yet. Rising steadily: an automation reports wrongly; the flags in the table executions are exact and say which.',
      labelNames: ['anomaly'] as const,
      registers,
    }),
    batchSize: new Histogram({
      name: 'runledger_store_batch_events',
      help: 'Events in one statement. At STORE_BATCH_EVENTS all the time, the workers are busy: see the backlog.',
      buckets: batchBuckets,
      registers,
    }),
    statementSeconds: new Histogram({
      name: 'runledger_store_statement_duration_seconds',
      help: 'Time Postgres took for the statement of a batch, successful or not; for two where it held duplicates. Slow: look at its disk, locks and vacuum.',
      buckets: durationBuckets,
      registers,
    }),
    lagSeconds: new Histogram({
      name: 'runledger_event_lag_seconds',
      help: 'Time from the acceptance of an event to its commit in Postgres: the freshness objective is 99 % within 30 s.',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
      registers,
    }),
    retries: new Counter({
      name: 'runledger_store_retries_total',
      help: 'Statements tried again because Postgres was away or busy. The log says why.',
      registers,
    }),
    holding: new Gauge({
      name: 'runledger_store_retrying',
      help: '1 while the worker holds events because Postgres cannot take them. Nothing is lost; the backlog grows.',
      registers,
    }),
    progressAt: unknownAtFirst(
      new Gauge({
        name: 'runledger_store_last_progress_timestamp_seconds',
        help: 'Unix time of the last commit to Postgres. Old while jobs wait: the worker makes no progress.',
        registers,
      }),
    ),
  };
  // Starts at 0, so that alerts and reconciliation begin at zero.
  for (const reason of likelyReasons) metrics.deadLetters.inc({ reason }, 0);
  return metrics;
}

/** The state of the partitions of the table `events`. */
export function maintenanceMetrics(registry: Registry) {
  const registers = [registry];
  return {
    partitionsAhead: unknownAtFirst(
      new Gauge({
        name: 'runledger_partitions_ahead',
        help: 'Days in a row, from today on, that have a partition. At 0 events go to the DEFAULT partition: look at the log of the maintenance. Left out while it cannot be read.',
        registers,
      }),
    ),
    defaultRows: unknownAtFirst(
      new Gauge({
        name: 'runledger_default_partition_rows',
        help: 'Events in the DEFAULT partition: their day had none. Maintenance gives them one; not zero for long: look at its log.',
        registers,
      }),
    ),
    running: unknownAtFirst(
      new Gauge({
        name: 'runledger_executions_running',
        help: 'Executions neither ended nor failed, up to a million, as of the last maintenance. The same from every worker: take the max.',
        registers,
      }),
    ),
    overdue: unknownAtFirst(
      new Gauge({
        name: 'runledger_executions_overdue',
        help: 'Of those, executions whose first event is older than OVERDUE_AFTER_HOURS: probably killed without an END. Take the max.',
        registers,
      }),
    ),
    failures: new Counter({
      name: 'runledger_maintenance_failures_total',
      help: 'Runs of the maintenance that failed. It is tried again; see the log for the reason.',
      registers,
    }),
  };
}
