import { Counter, Gauge, gaugeOf, type Registry, unknownAtFirst } from '../../kit/telemetry/metrics.ts';

export type NotifyMetrics = ReturnType<typeof notifyMetricsOf>;

const receivers = ['alertmanager', 'channel'] as const;
const results = ['ok', 'failed', 'given_up'] as const;

/** The metrics of notifications. */
export function notifyMetrics(registry: Registry) {
  const registers = [registry];
  const notifications = new Counter({
    name: 'runledger_notifications_total',
    help: 'Attempts to notify, by kind of receiver (alertmanager: one per request; channel: one per message) and result (ok; failed: will be retried; given_up: failed for three days, or refused for good).',
    labelNames: ['receiver', 'result'] as const,
    registers,
  });
  // Starts at 0, so that the first one counts as an increase.
  for (const receiver of receivers) for (const result of results) notifications.inc({ receiver, result }, 0);
  return {
    count: (receiver: (typeof receivers)[number], result: (typeof results)[number]) =>
      notifications.inc({ receiver, result }),
    waiting: unknownAtFirst(
      new Gauge({
        name: 'runledger_outbox_deliveries',
        help: 'Waiting deliveries to channels, at most 10000. Every controller reports the same value: use max.',
        labelNames: ['database'] as const,
        registers,
      }),
    ),
    oldestSeconds: unknownAtFirst(
      new Gauge({
        name: 'runledger_outbox_oldest_seconds',
        help: 'Age of the oldest waiting delivery to a channel; 0 if there is none. Grows while a receiver fails.',
        labelNames: ['database'] as const,
        registers,
      }),
    ),
  };
}

/** The same metrics for one database among several; without a name, for the only one. */
export function notifyMetricsOf(metrics: ReturnType<typeof notifyMetrics>, database?: string) {
  return {
    count: metrics.count,
    waiting: gaugeOf(metrics.waiting, database),
    oldestSeconds: gaugeOf(metrics.oldestSeconds, database),
  };
}
