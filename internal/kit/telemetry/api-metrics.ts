import { TalliedHistogram } from './distribution.ts';
import { Counter, requestBuckets, type Registry } from './metrics.ts';
import { RequestTally } from './request-tally.ts';

export type ApiMetrics = ReturnType<typeof apiMetrics>;

/** The metrics of requests and answers. */
export function apiMetrics(registry: Registry) {
  const requests = new RequestTally(requestBuckets);
  registry.registerMetric(countOf(requests));
  registry.registerMetric(durationsOf(requests));
  const plainHttp = new Counter({
    name: 'runledger_plain_http_requests_total',
    help: 'Requests over plain HTTP, answered with 301. token="true": a caller sent its token in the clear; find the caller and rotate the token.',
    labelNames: ['token'] as const,
    registers: [registry],
  });
  // Starts at 0, so that the first one counts as an increase.
  for (const token of ['true', 'false']) plainHttp.inc({ token }, 0);
  return { requests, plainHttp };
}

function countOf({ series }: RequestTally): Counter<'route' | 'method' | 'status'> {
  return new Counter({
    name: 'runledger_http_requests_total',
    help: 'Requests answered over HTTPS, by route, method and status. 5xx: callers retry; runledger_rejections_total has the reasons.',
    labelNames: ['route', 'method', 'status'],
    registers: [],
    collect() {
      this.reset();
      for (const { labels, count } of series) this.inc(labels, count);
    },
  });
}

function durationsOf({ durations }: RequestTally): TalliedHistogram<'route'> {
  const configuration = {
    name: 'runledger_http_request_duration_seconds',
    help: 'Time from the start of the handler to the answer, by route; excludes queueing within the event-loop turn. Slow: compare runledger_commit_duration_seconds and nodejs_eventloop_lag_p99_seconds.',
    labelNames: ['route'] as const,
    buckets: requestBuckets,
    registers: [],
  };
  return new TalliedHistogram(configuration, () => Array.from(durations, ([route, times]) => [{ route }, times]));
}
