import { Distribution } from './distribution.ts';

/** Requests of one route, method and status. */
interface Series {
  readonly labels: { readonly route: string; readonly method: string; readonly status: number };
  /** How long the requests of the route took, in seconds. */
  readonly durations: Distribution;
  count: number;
}

/**
 * Counts and times requests in plain numbers, which metrics show when they are scraped. The
 * library's own metrics make a text of the labels of each value and look that up, which took 3 to 7
 * % of ingest's instructions (test/bench/README.md).
 */
export class RequestTally {
  /**
   * A few as a rule, some hundred at most: Node knows no other methods, and the service no other
   * routes and statuses.
   */
  readonly series: Series[] = [];
  /** How long requests took, in seconds, by route. */
  readonly durations = new Map<string, Distribution>();
  readonly #bounds: readonly number[];

  /** @param bounds upper bounds of the buckets, in seconds, in order. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
  }

  /** One request that was answered with `status` after so many seconds. */
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
