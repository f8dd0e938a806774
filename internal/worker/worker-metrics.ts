import {
  batchBuckets,
  durationBuckets,
  gaugeOf,
  Gauge,
  metricsIn,
  type PartGauge,
  type Registry,
} from '../kit/telemetry/metrics.ts';
import {
  createOrganizationLabel,
  defaultOrganizations,
  type OrganizationLabel,
} from '../kit/telemetry/organization-label.ts';

export type StoreMetrics = Omit<ReturnType<typeof storeMetrics>, 'retrying'> & { retrying: PartGauge };
export type MaintenanceMetrics = ReturnType<typeof maintenanceMetricsOf>;

/** SQLSTATEs that a text or key can cause: invalid character, invalid value, too large. */
const likelyReasons = ['22021', '22P02', '54000'];

/** The metrics of the batcher and the store. */
export function storeMetrics(
  registry: Registry,
  organization: OrganizationLabel = createOrganizationLabel(defaultOrganizations),
) {
  const { counter, gauge, lateGauge, histogram } = metricsIn(registry);
  const metrics = {
    /** The label value of an organization. */
    organization,
    stored: counter(
      'runledger_events_stored_total',
      'Events inserted into Postgres. No rise while jobs wait: see runledger_store_retrying.',
    ),
    duplicates: counter(
      'runledger_events_duplicate_total',
      'Events that Postgres already had and the worker ignored: repeated statements, repeated Idempotency-Keys and redelivered jobs.',
    ),
    redelivered: counter(
      'runledger_events_redelivered_total',
      'The part of runledger_events_duplicate_total from jobs that a worker returned, or held when it died. Reconciliation subtracts them, because the first delivery counted them.',
    ),
    deadLetters: counter(
      'runledger_events_dead_lettered_total',
      'Events that Postgres rejected because of their data; they are in the table dead_letters. Examine each one.',
      ['reason'],
    ),
    transitions: counter(
      'runledger_execution_transitions_total',
      'Executions whose state changed, by organization and states ("none" for a new one). The order is that of storing: with several workers, an ERROR from before END may be stored after it. The columns failed_at and ended_at are exact.',
      ['organization', 'from', 'to'],
    ),
    anomalies: counter(
      'runledger_execution_anomalies_total',
      'Executions with a broken order of events, by anomaly. The order is that of storing; start_missing counts when END is stored before START. A steady rise: an automation reports wrongly. The flags in the table executions are exact and name it.',
      ['anomaly'],
    ),
    batchSize: histogram(
      'runledger_store_batch_events',
      'Events in one statement. At 2,000 all the time, the workers are at their limit: check the backlog.',
      batchBuckets,
    ),
    statementSeconds: histogram(
      'runledger_store_statement_duration_seconds',
      "Duration of a batch's statement in Postgres, successful or not; of both statements for a batch with duplicates. Slow: check disk, locks and vacuum.",
      durationBuckets,
    ),
    lagSeconds: histogram(
      'runledger_event_lag_seconds',
      'Time from the acceptance of an event to its commit in Postgres: the freshness objective is 99 % within 30 s.',
      [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
    ),
    retries: counter(
      'runledger_store_retries_total',
      'Statements retried because Postgres was unavailable or busy. The log has the reason.',
    ),
    retrying: gauge(
      'runledger_store_retrying',
      '1 while the worker keeps events and retries because Postgres cannot store them. No event is lost; the backlog grows.',
      ['database'],
    ),
    progressAt: lateGauge(
      'runledger_store_last_progress_timestamp_seconds',
      'Unix time of the last commit to Postgres. Old while jobs wait: the worker makes no progress.',
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
  const { histogram } = metricsIn(registry);
  return {
    ...metrics,
    lagSeconds: histogram(
      'runledger_overflow_lag_seconds',
      'As runledger_event_lag_seconds, for events of the overflow lane: only organizations beyond OVERFLOW_RATE wait so long.',
      [0.1, 1, 10, 60, 300, 1800, 7200],
    ),
    progressAt: new Gauge({ name: 'unused', help: 'Not shown.', registers: [] }),
  };
}

/** The state of the partitions of the table `events`. */
export function maintenanceMetrics(registry: Registry) {
  const { counter, gauge, lateGauge } = metricsIn(registry);
  return {
    partitionsAhead: lateGauge(
      'runledger_partitions_ahead',
      'Consecutive days from today that have a partition. 0: events go to the DEFAULT partition; see the maintenance log. Absent while Postgres is unavailable.',
      ['database'],
    ),
    defaultRows: lateGauge(
      'runledger_default_partition_rows',
      'Events in the DEFAULT partition because their day had no partition. Maintenance moves them; if this stays above 0, see its log.',
      ['database'],
    ),
    running: lateGauge(
      'runledger_executions_running',
      'Executions neither ended nor failed at the last maintenance, up to a million. Every worker reports the same value: use max.',
      ['database'],
    ),
    overdue: lateGauge(
      'runledger_executions_overdue',
      'Running executions whose first event is older than a day: probably killed without an END. Use max.',
      ['database'],
    ),
    waiting: gauge(
      'runledger_archive_waiting_partitions',
      'Partitions past RETENTION_DAYS or HOT_DAYS that stay because the archive in ARCHIVE_URL does not hold them. The log says what it lacks. Every worker reports the same value: use max.',
      ['database'],
    ),
    asked: gauge(
      'runledger_retention_asked_partitions',
      'Partitions past retention that stay until a person approves dropping that many at once. Every worker reports the same value: use max.',
      ['database'],
    ),
    moveUnderWay: gauge(
      'runledger_move_under_way',
      '1 while an organization is on a move from or to this database: until its end retention drops nothing there. Every worker reports the same value: use max.',
      ['database'],
    ),
    clockAhead: lateGauge(
      'runledger_worker_clock_ahead_seconds',
      "How far, at least, the worker's clock is ahead of the Postgres clock; negative if behind. Beyond a minute, the worker drops no partition.",
      ['database'],
    ),
    failures: counter(
      'runledger_maintenance_failures_total',
      'Failed maintenance runs. The worker retries; the log has the reason.',
    ),
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
    moveUnderWay: gaugeOf(metrics.moveUnderWay, database),
    clockAhead: gaugeOf(metrics.clockAhead, database),
    failures: metrics.failures,
  };
}

export type DatabaseMetrics = ReturnType<typeof databaseMetrics>;

/** The metrics of a worker with several databases. */
export function databaseMetrics(registry: Registry) {
  const { counter, gauge } = metricsIn(registry);
  return {
    setAside: counter(
      'runledger_events_set_aside_total',
      'Events set aside because their database stored nothing for 3 s, or (moving) because their organization is moving to another database. They wait on disk and delay no other organization.',
      ['database'],
    ),
    waitingJobs: gauge(
      'runledger_database_waiting_jobs',
      'Jobs with events that wait for a database, or (moving) for the end of a move. Every worker reports the same value: use max.',
      ['database'],
    ),
  };
}
