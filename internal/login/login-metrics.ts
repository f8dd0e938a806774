import { metricsIn, type Registry } from '../kit/telemetry/metrics.ts';

export type LoginMetrics = ReturnType<typeof loginMetrics>;

const ways = ['oidc', 'token', 'link'] as const;
const results = ['ok', 'refused', 'unavailable'] as const;
export type LoginWay = (typeof ways)[number];
export type LoginResult = (typeof results)[number];

/** The metrics of logins to the web console, and of its access log. */
export function loginMetrics(registry: Registry) {
  const { counter, lateGauge } = metricsIn(registry);
  const logins = counter(
    'runledger_logins_total',
    'Logins to the web console, by way (oidc, token, link) and result (ok; refused: a wrong token, no organization, or a mismatched answer of the provider; unavailable: the provider or Postgres does not answer).',
    ['way', 'result'],
  );
  const entries = counter(
    'runledger_access_log_entries_total',
    'Entries of the access log, by result: written to the table access_log, or lost (only in the log of the process).',
    ['result'],
  );
  // Starts at 0, so that the first one counts as an increase.
  for (const way of ways) for (const result of results) logins.inc({ way, result }, 0);
  for (const result of ['written', 'lost'] as const) entries.inc({ result }, 0);
  return {
    count: (way: LoginWay, result: LoginResult) => logins.inc({ way, result }),
    written: (count: number) => entries.inc({ result: 'written' }, count),
    lost: (count: number) => entries.inc({ result: 'lost' }, count),
    writable: lateGauge(
      'runledger_login_database_writable',
      '1 when the console can write sessions and the access log; 0 when it cannot: nobody can log in, and the access log is only in the log of the process.',
    ),
  };
}
