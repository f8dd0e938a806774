import { Counter, type Registry } from './metrics.ts';

/** Counts the events that got 503, by reason. Each of `reasons` starts at 0. */
export function rejectionMetrics<Reason extends string>(registry: Registry, reasons: readonly Reason[]) {
  const rejections = new Counter({
    name: 'runledger_rejections_total',
    help: 'Events answered with 503, by reason. Callers retry. The runbooks for the availability alerts explain each reason.',
    labelNames: ['reason'] as const,
    registers: [registry],
  });
  // Starts at 0, so that the first one counts as an increase.
  for (const reason of reasons) rejections.inc({ reason }, 0);
  return (reason: Reason, events: number): void => rejections.inc({ reason }, events);
}
