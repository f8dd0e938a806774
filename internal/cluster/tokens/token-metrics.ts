import { metricsIn, type Registry } from '../../kit/telemetry/metrics.ts';

export type TokenMetrics = ReturnType<typeof tokenMetrics>;

/** The metrics of the token set and of its age. */
export function tokenMetrics(registry: Registry) {
  const { counter, gauge, lateGauge } = metricsIn(registry);
  return {
    organizations: gauge(
      'runledger_token_organizations',
      'Organizations with at least one usable token. A sudden drop: Secrets were deleted or rejected.',
    ),
    tokens: gauge('runledger_tokens', 'Usable tokens loaded. 0: every request gets 401.'),
    refused: gauge(
      'runledger_token_secrets_refused',
      'Rejected token entries, by reason. Not zero: `kubectl events` in the tokens namespace shows the faults.',
      ['reason'],
    ),
    listedAt: lateGauge(
      'runledger_token_last_list_timestamp_seconds',
      'Unix time of the last successful full list. Its age grows while the API server is unavailable.',
    ),
    watchRestarts: counter(
      'runledger_token_watch_restarts_total',
      'Watches restarted after an error. A steady rise: the API server refuses the watch.',
    ),
  };
}
