import { Histogram, type HistogramConfiguration } from 'prom-client';

/** Requests of one route, method and status: how many, how long they took together, and how many end up in which bucket. */
interface Series {
  readonly labels: { readonly route: string; readonly method: string; readonly status: number };
  readonly buckets: number[];
  count: number;
  seconds: number;
}

/**
 * Counts and times requests in plain numbers, which metrics show when they are scraped. The library's own metrics make a text of
 * the labels of each value and look that up, which took 3 to 7 % of ingest's instructions (test/bench/README.md).
 */
export class RequestTally {
  /** A few as a rule, some hundred at most: Node knows no other methods, and the service no other routes and statuses. */
  readonly series: Series[] = [];
  readonly bounds: readonly number[];

  /** @param bounds upper bounds of the buckets, in seconds, in order. */
  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
  }

  /** One request that was answered with `status` after so many seconds. */
  add(route: string, method: string, status: number, seconds: number): void {
    const series = this.#seriesOf(route, method, status);
    series.count += 1;
    series.seconds += seconds;
    const bucket = this.bounds.findIndex((bound) => seconds <= bound);
    if (bucket !== -1) series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
  }

  #seriesOf(route: string, method: string, status: number): Series {
    const known = this.series.find(
      ({ labels }) => labels.status === status && labels.route === route && labels.method === method,
    );
    return (
      known ??
      this.#begin({ labels: { route, method, status }, buckets: this.bounds.map(() => 0), count: 0, seconds: 0 })
    );
  }

  #begin(series: Series): Series {
    this.series.push(series);
    return series;
  }
}

/** How long the requests of a tally took, by route. Only the tally is shown: observing does nothing. */
export class TalliedHistogram extends Histogram<'route'> {
  readonly #description: { name: string; help: string; type: 'histogram'; aggregator: 'sum' };
  readonly #tally: RequestTally;

  constructor(configuration: Omit<HistogramConfiguration<'route'>, 'buckets'>, tally: RequestTally) {
    super({ ...configuration, buckets: [...tally.bounds] });
    const { name, help } = configuration;
    this.#description = { name, help, type: 'histogram', aggregator: 'sum' };
    this.#tally = tally;
  }

  /** What the library's registry and its `get` ask a histogram for; its types do not say. */
  getForPromString() {
    const routes = Map.groupBy(this.#tally.series, ({ labels }) => labels.route);
    const values = [...routes].flatMap(([route, series]) => this.#valuesOf(route, series));
    return Promise.resolve({ ...this.#description, values });
  }

  #valuesOf(route: string, series: Series[]) {
    const value = (what: string, labels: { le?: number | '+Inf' }, number: number) => ({
      metricName: `${this.#description.name}_${what}`,
      labels,
      sharedLabels: { route },
      value: number,
    });
    const count = sum(series.map((one) => one.count));
    const upTo = (bucket: number): number => sum(series.flatMap(({ buckets }) => buckets.slice(0, bucket + 1)));
    return [
      ...this.#tally.bounds.map((le, bucket) => value('bucket', { le }, upTo(bucket))),
      value('bucket', { le: '+Inf' }, count),
      value('sum', {}, sum(series.map(({ seconds }) => seconds))),
      value('count', {}, count),
    ];
  }
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
