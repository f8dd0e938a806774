import { Counter, durationBuckets, Histogram, type Registry } from './metrics.ts';

export type ApiMetrics = ReturnType<typeof apiMetrics>;

/** What callers ask and what they get. */
export function apiMetrics(registry: Registry) {
  const registers = [registry];
  return {
    requests: new Counter({
      name: 'runledger_http_requests_total',
      help: 'Requests answered over HTTPS, by route, method and status.',
      labelNames: ['route', 'method', 'status'] as const,
      registers,
    }),
    seconds: new Histogram({
      name: 'runledger_http_request_duration_seconds',
      help: 'Time from the arrival of a request to its answer, by route.',
      labelNames: ['route'] as const,
      buckets: durationBuckets,
      registers,
    }),
    plainHttp: new Counter({
      name: 'runledger_plain_http_requests_total',
      help: 'Requests over plain HTTP, answered with 301. With token="true" the token has been sent in the clear: rotate it.',
      labelNames: ['token'] as const,
      registers,
    }),
  };
}
