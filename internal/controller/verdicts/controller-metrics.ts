import { durationBuckets, gaugeOf, metricsIn, type Registry } from '../../kit/telemetry/metrics.ts';

export type ControllerMetrics = ReturnType<typeof controllerMetricsOf>;

/** The metrics of expectations. */
export function controllerMetrics(registry: Registry) {
  const { counter, gauge, lateGauge, histogram } = metricsIn(registry);
  const verdicts = gauge(
    'runledger_verdicts',
    'Expectations that are not met now, by kind (missing, late, overrunning, failing; unknown: cannot be proven). Every controller reports the same value: use max.',
    ['kind', 'database'],
  );
  const automations = gauge(
    'runledger_automation_verdicts',
    'Expectations of one automation that are not met now; 0 when all are. Only with METRICS_AUTOMATIONS, which bounds their number. Every controller reports the same value: use max.',
    ['organization', 'automation', 'database'],
  );
  return {
    verdicts,
    automations,
    setAside: gauge(
      'runledger_organizations_set_aside',
      'Organizations whose verdicts and notifications wait, because Postgres rejects their data or takes too long over it. The log names them. Use max over controllers.',
      ['database'],
    ),
    evaluations: counter('runledger_evaluations_total', 'Evaluations of automations, by this controller.'),
    failures: counter(
      'runledger_ticks_failed_total',
      'Ticks that failed because Redis or Postgres did not answer. The next tick follows after a few seconds.',
    ),
    seconds: histogram(
      'runledger_tick_seconds',
      'Duration of a tick, which evaluates all expectations that may have changed.',
      durationBuckets,
    ),
    lag: lateGauge(
      'runledger_watermark_lag_seconds',
      'Age of the watermark: verdicts cover events that were accepted before it. About 15 s; past 300 s Runledger is blind. Use min over controllers.',
      ['database'],
    ),
  };
}

/** The labels of an automation's gauge. */
interface AutomationLabels {
  organization: string;
  automation: string;
}

/** The same metrics for one database among several; without a name, for the only one. */
export function controllerMetricsOf(metrics: ReturnType<typeof controllerMetrics>, database?: string) {
  const named = database === undefined ? {} : { database };
  let shown: AutomationLabels[] = [];
  return {
    verdicts: {
      set: (labels: { kind: string }, value: number) => metrics.verdicts.set({ ...labels, ...named }, value),
    },
    automations: {
      set: (labels: AutomationLabels, value: number) => {
        shown.push(labels);
        metrics.automations.set({ ...labels, ...named }, value);
      },
      reset: () => {
        for (const labels of shown) metrics.automations.remove({ ...labels, ...named });
        shown = [];
      },
    },
    setAside: gaugeOf(metrics.setAside, database),
    evaluations: metrics.evaluations,
    failures: metrics.failures,
    seconds: metrics.seconds,
    lag: gaugeOf(metrics.lag, database),
  };
}
