import { metricsIn, type Registry } from '../../kit/telemetry/metrics.ts';

export type CaptureMetrics = ReturnType<typeof captureMetrics>;

/** The metrics of captured Jobs. A scrape calls `lagMs`. */
export function captureMetrics(registry: Registry, lagMs: () => number) {
  const { counter, gauge, readGauge } = metricsIn(registry);
  readGauge(
    'runledger_job_capture_lag_seconds',
    'How long changes of Jobs have waited to be recorded, including while they cannot be read; 0 when none waits. Use min over controllers.',
    (gauge) => gauge.set(lagMs() / 1_000),
  );
  const events = counter(
    'runledger_job_events_total',
    'Events of Kubernetes Jobs that this controller has put into the queue, by kind.',
    ['kind'],
  );
  for (const kind of ['START', 'WARNING', 'ERROR', 'END']) events.inc({ kind }, 0);
  return {
    events,
    setAside: gauge(
      'runledger_captured_jobs_set_aside',
      'Jobs that cannot be recorded because their data is rejected, and namespaces with more Jobs than the controller follows. Warning Events name them. Use max over controllers.',
    ),
    watchRestarts: counter(
      'runledger_job_watch_restarts_total',
      'Watches of Jobs restarted after an error. A steady rise: the API server refuses the watch.',
    ),
  };
}
