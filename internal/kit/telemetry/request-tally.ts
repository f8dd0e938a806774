import { Distribution } from './distribution.ts';

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
