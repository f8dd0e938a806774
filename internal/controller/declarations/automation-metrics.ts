import { Counter, Gauge, type Registry, unknownAtFirst } from '../../kit/telemetry/metrics.ts';

export type AutomationMetrics = ReturnType<typeof automationMetrics>;

/** The metrics of declared automations and channels, and of their age. */
export function automationMetrics(registry: Registry) {
  const registers = [registry];
  return {
    declared: new Gauge({
      name: 'runledger_automations_declared',
      help: 'Automations whose declaration is accepted. A sudden drop: resources were deleted or rejected.',
      registers,
    }),
    refused: new Gauge({
      name: 'runledger_declarations_refused',
      help: "Automations and channels that are not accepted, by reason (that of the resource's condition Ready).",
      labelNames: ['reason'] as const,
      registers,
    }),
    listedAt: unknownAtFirst(
      new Gauge({
        name: 'runledger_declarations_last_list_timestamp_seconds',
        help: 'Unix time of the last complete list. Its age grows while the API server is unavailable.',
        registers,
      }),
    ),
    watchRestarts: new Counter({
      name: 'runledger_declaration_watch_restarts_total',
      help: 'Watches restarted after an error. A steady rise: the API server refuses the watch.',
      registers,
    }),
    statusWrites: new Counter({
      name: 'runledger_status_writes_total',
      help: 'Writes of the status of resources, by result: written or failed.',
      labelNames: ['result'] as const,
      registers,
    }),
  };
}
