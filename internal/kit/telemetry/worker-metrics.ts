import {
  batchBuckets,
  Counter,
  durationBuckets,
  Gauge,
  Histogram,
  ofShard,
  type Registry,
  unknownAtFirst,
} from './metrics.ts';
import { gaugeOf, type GaugeOfDatabase } from './database-label.ts';
import { createOrganizationLabel, defaultOrganizations, type OrganizationLabel } from './organization-label.ts';

export type ConsumerMetrics = Omit<ReturnType<typeof consumerMetrics>, 'ofShard'>;
export type StoreMetrics = Omit<ReturnType<typeof storeMetrics>, 'retrying'> & { retrying: GaugeOfDatabase };
export type MaintenanceMetrics = ReturnType<typeof maintenanceMetricsOf>;

/**
 * Why a job is set aside: its checksum is wrong, its events would take too much memory, or several
 * workers died with it.
 */
export const jobFaults = ['damaged', 'too-large', 'deadly'] as const;
export type JobFault = (typeof jobFaults)[number];

/** The metrics of jobs before they reach the store. */
export function consumerMetrics(registry: Registry) {
  const registers = [registry];
  const counters = {
    stalled: new Counter({
      name: 'runledger_jobs_stalled_total',
      help: 'Jobs recovered from a worker that stopped renewing its lock because it was killed or frozen. No event is lost.',
      registers,
    }),
    unreadable: new Counter({
      name: 'runledger_jobs_unreadable_total',
      help: 'How often a worker returned a job because a newer release wrote it and this one would lose some of it. Rising: update the workers.',
      registers,
    }),
    setAside: new Counter({
      name: 'runledger_jobs_set_aside_total',
      help: 'Jobs whose events a worker must not store, by reason. They stay among the failed jobs of the queue until a person decides.',
      labelNames: ['reason'] as const,
      registers,
    }),
  };
  // Starts at 0, so that the first one is an increase.
  for (const reason of jobFaults) counters.setAside.inc({ reason }, 0);
  const durable = new Gauge({
    name: 'runledger_worker_redis_durable',
    help: 'As runledger_redis_durable, checked by a worker every 5 s. 0: Redis may lose events.',
    labelNames: ['shard'] as const,
    registers,
  });
  /** The counters with the gauge of one shard, if the queue has several. */
  const ofOne = (shard?: string) => ({ ...counters, durable: ofShard(durable, shard) });
  return { ...ofOne(), ofShard: ofOne };
}

/** SQLSTATEs that a text or key can cause: invalid character, invalid value, too large. */
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
      help: 'Events inserted into Postgres. No rise while jobs wait: see runledger_store_retrying.',
      registers,
    }),
    duplicates: new Counter({
      name: 'runledger_events_duplicate_total',
      help: 'Events that Postgres already had and the worker ignored: repeated statements, repeated Idempotency-Keys and redelivered jobs.',
      registers,
    }),
    redelivered: new Counter({
      name: 'runledger_events_redelivered_total',
      help: 'The part of runledger_events_duplicate_total from jobs that a worker returned, or held when it died. Reconciliation subtracts them, because the first delivery counted them.',
      registers,
    }),
    deadLetters: new Counter({
      name: 'runledger_events_dead_lettered_total',
      help: 'Events that Postgres rejected because of their data; they are in the table dead_letters. Examine each one.',
      labelNames: ['reason'] as const,
      registers,
    }),
    transitions: new Counter({
      name: 'runledger_execution_transitions_total',
      help: 'Executions whose state changed, by organization and states ("none" for a new one). The order is that of storing: with several workers, an ERROR from before END may be stored after it. The columns failed_at and ended_at are exact.',
      labelNames: ['organization', 'from', 'to'] as const,
      registers,
    }),
    anomalies: new Counter({
      name: 'runledger_execution_anomalies_total',
      help: 'Executions with a broken order of events, by anomaly. The order is that of storing; start_missing counts when END is stored before START. A steady rise: an automation reports wrongly. The flags in the table executions are exact and name it.',
      labelNames: ['anomaly'] as const,
      registers,
    }),
    batchSize: new Histogram({
      name: 'runledger_store_batch_events',
      help: 'Events in one statement. At 2,000 all the time, the workers are at their limit: check the backlog.',
      buckets: batchBuckets,
      registers,
    }),
    statementSeconds: new Histogram({
      name: 'runledger_store_statement_duration_seconds',
      help: "Duration of a batch's statement in Postgres, successful or not; of both statements for a batch with duplicates. Slow: check disk, locks and vacuum.",
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
      help: 'Statements retried because Postgres was unavailable or busy. The log has the reason.',
      registers,
    }),
    retrying: new Gauge({
      name: 'runledger_store_retrying',
      help: '1 while the worker keeps events and retries because Postgres cannot store them. No event is lost; the backlog grows.',
      labelNames: ['database'] as const,
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
  // Starts at 0, so that alerts and reconciliation have a baseline.
  for (const reason of likelyReasons) metrics.deadLetters.inc({ reason }, 0);
  metrics.retrying.set(0);
  return metrics;
}

/** The same metrics for one database among several. */
export function storeMetricsOf(metrics: ReturnType<typeof storeMetrics>, database: string): StoreMetrics {
  const retrying = gaugeOf(metrics.retrying, database);
  metrics.retrying.remove({});
  retrying.set(0);
  return { ...metrics, retrying };
}

/**
 * The metrics of the overflow lane: those of the store, with a separate lag. So events that wait
 * there neither miss the freshness objective nor hide that no other events are stored.
 */
export function overflowStoreMetrics(
  registry: Registry,
  metrics: ReturnType<typeof storeMetrics>,
): ReturnType<typeof storeMetrics> {
  return {
    ...metrics,
    lagSeconds: new Histogram({
      name: 'runledger_overflow_lag_seconds',
      help: 'As runledger_event_lag_seconds, for events of the overflow lane: only organizations beyond OVERFLOW_RATE wait so long.',
      buckets: [0.1, 1, 10, 60, 300, 1800, 7200],
      registers: [registry],
    }),
    progressAt: new Gauge({ name: 'unused', help: 'Not shown.', registers: [] }),
  };
}

/** The state of the partitions of the table `events`. */
export function maintenanceMetrics(registry: Registry) {
  const registers = [registry];
  return {
    partitionsAhead: unknownAtFirst(
      new Gauge({
        name: 'runledger_partitions_ahead',
        help: 'Consecutive days from today that have a partition. 0: events go to the DEFAULT partition; see the maintenance log. Absent while Postgres is unavailable.',
        labelNames: ['database'] as const,
        registers,
      }),
    ),
    defaultRows: unknownAtFirst(
      new Gauge({
        name: 'runledger_default_partition_rows',
        help: 'Events in the DEFAULT partition because their day had no partition. Maintenance moves them; if this stays above 0, see its log.',
        labelNames: ['database'] as const,
        registers,
      }),
    ),
    running: unknownAtFirst(
      new Gauge({
        name: 'runledger_executions_running',
        help: 'Executions neither ended nor failed at the last maintenance, up to a million. Every worker reports the same value: use max.',
        labelNames: ['database'] as const,
        registers,
      }),
    ),
    overdue: unknownAtFirst(
      new Gauge({
        name: 'runledger_executions_overdue',
        help: 'Running executions whose first event is older than a day: probably killed without an END. Use max.',
        labelNames: ['database'] as const,
        registers,
      }),
    ),
    waiting: new Gauge({
      name: 'runledger_archive_waiting_partitions',
      help: 'Partitions past retention that stay because the archive in ARCHIVE_URL does not hold them. The log says what it lacks. Every worker reports the same value: use max.',
      labelNames: ['database'] as const,
      registers,
    }),
    asked: new Gauge({
      name: 'runledger_retention_asked_partitions',
      help: 'Partitions past retention that stay until a person approves dropping that many at once. Every worker reports the same value: use max.',
      labelNames: ['database'] as const,
      registers,
    }),
    clockAhead: unknownAtFirst(
      new Gauge({
        name: 'runledger_worker_clock_ahead_seconds',
        help: "How far, at least, the worker's clock is ahead of the Postgres clock; negative if behind. Beyond a minute, the worker drops no partition.",
        labelNames: ['database'] as const,
        registers,
      }),
    ),
    failures: new Counter({
      name: 'runledger_maintenance_failures_total',
      help: 'Failed maintenance runs. The worker retries; the log has the reason.',
      registers,
    }),
  };
}

/** The same metrics for one database among several; without a name, for the only one. */
export function maintenanceMetricsOf(metrics: ReturnType<typeof maintenanceMetrics>, database?: string) {
  return {
    partitionsAhead: gaugeOf(metrics.partitionsAhead, database),
    defaultRows: gaugeOf(metrics.defaultRows, database),
    running: gaugeOf(metrics.running, database),
    overdue: gaugeOf(metrics.overdue, database),
    waiting: gaugeOf(metrics.waiting, database),
    asked: gaugeOf(metrics.asked, database),
    clockAhead: gaugeOf(metrics.clockAhead, database),
    failures: metrics.failures,
  };
}
