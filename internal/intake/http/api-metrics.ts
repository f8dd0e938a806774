import { Distribution, TalliedHistogram } from '../../kit/telemetry/distribution.ts';
import { Counter, metricsIn, requestBuckets, type Registry } from '../../kit/telemetry/metrics.ts';
import {
  createOrganizationLabel,
  defaultOrganizations,
  type OrganizationLabel,
} from '../../kit/telemetry/organization-label.ts';

export type ApiMetrics = ReturnType<typeof apiMetrics>;

/** The metrics of requests and answers. */
export function apiMetrics(registry: Registry) {
  const { counter } = metricsIn(registry);
  const requests = new RequestTally(requestBuckets);
  registry.registerMetric(countOf(requests));
  registry.registerMetric(durationsOf(requests));
  const plainHttp = counter(
    'runledger_plain_http_requests_total',
    'Requests over plain HTTP, answered with 301. token="true": a caller sent its token in the clear; find the caller and rotate the token.',
    ['token'],
  );
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

/** Counts the events that got 503, by reason. Each of `reasons` starts at 0. */
export function rejectionMetrics<Reason extends string>(registry: Registry, reasons: readonly Reason[]) {
  const { counter } = metricsIn(registry);
  const rejections = counter(
    'runledger_rejections_total',
    'Events answered with 503, by reason. Callers retry. The runbooks for the availability alerts explain each reason.',
    ['reason'],
  );
  // Starts at 0, so that the first one counts as an increase.
  for (const reason of reasons) rejections.inc({ reason }, 0);
  return (reason: Reason, events: number): void => rejections.inc({ reason }, events);
}

/** Returns a function that counts a rejected request of an organization. */
export function limitMetrics(
  registry: Registry,
  label: OrganizationLabel = createOrganizationLabel(defaultOrganizations),
): (organization: string) => void {
  const { counter } = metricsIn(registry);
  const limited = counter(
    'runledger_organization_limited_requests_total',
    'Requests that got 429, because their organization was beyond its rate (ORGANIZATION_RATE, or the annotation of its Secret) or because the overflow lane was full.',
    ['organization'],
  );
  return (organization) => limited.inc({ organization: label(organization) });
}

/** Requests of one route, method and status. */
interface Series {
  readonly labels: { readonly route: string; readonly method: string; readonly status: number };
  /** Durations of the route's requests, in seconds. */
  readonly durations: Distribution;
  count: number;
}

/**
 * Counts and times requests as plain numbers, formatted at a scrape. The library would build and
 * look up a label string for each request (test/bench/README.md).
 */
export class RequestTally {
  /** Usually a few series, at most some hundred, since methods, routes and statuses are bounded. */
  readonly series: Series[] = [];
  /** Durations of requests, in seconds, by route. */
  readonly durations = new Map<string, Distribution>();
  readonly #bounds: readonly number[];

  /** @param bounds upper bounds of the buckets, in seconds, in order. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
  }

  /** Adds one request. */
  add(route: string, method: string, status: number, seconds: number): void {
    const series = this.#seriesOf(route, method, status);
    series.count += 1;
    series.durations.add(seconds);
  }

  #seriesOf(route: string, method: string, status: number): Series {
    const known = this.series.find(
      ({ labels }) => labels.status === status && labels.route === route && labels.method === method,
    );
    return known ?? this.#begin(route, method, status);
  }

  #begin(route: string, method: string, status: number): Series {
    const durations = this.durations.get(route) ?? new Distribution(this.#bounds);
    this.durations.set(route, durations);
    const series = { labels: { route, method, status }, durations, count: 0 };
    this.series.push(series);
    return series;
  }
}
