import { Counter, Gauge, type Registry } from './metrics.ts';

export type CaptureMetrics = ReturnType<typeof captureMetrics>;

/** The metrics of captured Jobs. A scrape calls `lagMs`. */
export function captureMetrics(registry: Registry, lagMs: () => number) {
  const registers = [registry];
  void new Gauge({
    name: 'runledger_job_capture_lag_seconds',
    help: 'How long changes of Jobs have waited to be recorded, including while they cannot be read; 0 when none waits. Use min over controllers.',
    registers,
    collect() {
      this.set(lagMs() / 1_000);
    },
  });
  const events = new Counter({
    name: 'runledger_job_events_total',
    help: 'Events of Kubernetes Jobs that this controller has put into the queue, by kind.',
    labelNames: ['kind'] as const,
    registers,
  });
  for (const kind of ['START', 'WARNING', 'ERROR', 'END']) events.inc({ kind }, 0);
  return {
    events,
    setAside: new Gauge({
      name: 'runledger_captured_jobs_set_aside',
      help: 'Jobs that cannot be recorded because their data is rejected, and namespaces with more Jobs than the controller follows. Warning Events name them. Use max over controllers.',
      registers,
    }),
    watchRestarts: new Counter({
      name: 'runledger_job_watch_restarts_total',
      help: 'Watches of Jobs restarted after an error. A steady rise: the API server refuses the watch.',
      registers,
    }),
  };
}
