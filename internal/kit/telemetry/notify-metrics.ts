import { gaugeOf } from './database-label.ts';
import { Counter, Gauge, type Registry, unknownAtFirst } from './metrics.ts';

export type NotifyMetrics = ReturnType<typeof notifyMetricsOf>;

const receivers = ['alertmanager', 'webhook'] as const;
const results = ['ok', 'failed', 'given_up'] as const;

/** The metrics of notifications. */
export function notifyMetrics(registry: Registry) {
  const registers = [registry];
  const notifications = new Counter({
    name: 'runledger_notifications_total',
    help: 'Attempts to notify, by kind of receiver (alertmanager: one for each request; webhook: one for each delivery) and result (ok; failed: it is repeated; given_up: it failed for three days).',
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
        help: 'Webhook deliveries that wait, at most 10000. Each controller shows the same figure.',
        labelNames: ['database'] as const,
        registers,
      }),
    ),
    oldestSeconds: unknownAtFirst(
      new Gauge({
        name: 'runledger_outbox_oldest_seconds',
        help: 'Age of the oldest webhook delivery that waits; 0 without any. Grows while a receiver fails.',
        labelNames: ['database'] as const,
        registers,
      }),
    ),
  };
}

/** The same metrics for one database among several; without a name, of the only one. */
export function notifyMetricsOf(metrics: ReturnType<typeof notifyMetrics>, database?: string) {
  return {
    count: metrics.count,
    waiting: gaugeOf(metrics.waiting, database),
    oldestSeconds: gaugeOf(metrics.oldestSeconds, database),
  };
}
