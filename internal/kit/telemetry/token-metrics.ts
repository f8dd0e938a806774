import { Counter, Gauge, type Registry, unknownAtFirst } from './metrics.ts';

export type TokenMetrics = ReturnType<typeof tokenMetrics>;

/** The metrics of the token set and of its age. */
export function tokenMetrics(registry: Registry) {
  const registers = [registry];
  return {
    organizations: new Gauge({
      name: 'runledger_token_organizations',
      help: 'Organizations with at least one usable token. A sudden drop: Secrets were deleted or rejected.',
      registers,
    }),
    tokens: new Gauge({
      name: 'runledger_tokens',
      help: 'Usable tokens loaded. 0: every request gets 401.',
      registers,
    }),
    refused: new Gauge({
      name: 'runledger_token_secrets_refused',
      help: 'Rejected token entries, by reason. Not zero: `kubectl events` in the tokens namespace shows the faults.',
      labelNames: ['reason'] as const,
      registers,
    }),
    listedAt: unknownAtFirst(
      new Gauge({
        name: 'runledger_token_last_list_timestamp_seconds',
        help: 'Unix time of the last successful full list. Its age grows while the API server is unavailable.',
        registers,
      }),
    ),
    watchRestarts: new Counter({
      name: 'runledger_token_watch_restarts_total',
      help: 'Watches restarted after an error. A steady rise: the API server refuses the watch.',
      registers,
    }),
  };
}
