import { Histogram, type HistogramConfiguration } from 'prom-client';

/**
 * Counts values per bucket, and their sum, as plain numbers that are formatted at a scrape. The
 * library's histogram builds and looks up a label string for each value (test/bench/README.md).
 */
export class Distribution {
  readonly #bounds: readonly number[];
  readonly #buckets: number[];
  count = 0;
  sum = 0;

  /** @param bounds upper bounds of the buckets, in order; larger values are only counted. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#buckets = bounds.map(() => 0);
  }

  /** Adds one value. */
  add(value: number): void {
    this.count += 1;
    this.sum += value;
    const bucket = this.#bounds.findIndex((bound) => value <= bound);
    if (bucket !== -1) this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
  }

  /** The number of values up to each bound. */
  cumulated(): { bound: number; count: number }[] {
    let count = 0;
    return this.#bounds.map((bound, bucket) => {
      count += this.#buckets[bucket] ?? 0;
      return { bound, count };
    });
  }
}

type Labels<Label extends string> = Partial<Record<Label, string>>;

/** Shows distributions as a histogram. Observing does nothing. */
export class TalliedHistogram<Label extends string = never> extends Histogram<Label> {
  readonly #description: { name: string; help: string; type: 'histogram'; aggregator: 'sum' };
  readonly #read: () => Iterable<readonly [Labels<Label>, Distribution]>;

  /** @param read returns the distributions at each scrape; they share their bounds. */
  constructor(
    configuration: Omit<HistogramConfiguration<Label>, 'buckets'> & { buckets: readonly number[] },
    read: () => Iterable<readonly [Labels<Label>, Distribution]>,
  ) {
    super({ ...configuration, buckets: [...configuration.buckets] });
    const { name, help } = configuration;
    this.#description = { name, help, type: 'histogram', aggregator: 'sum' };
    this.#read = read;
  }

  /** The method that the library's registry calls, missing from its types. */
  getForPromString() {
    const values = Array.from(this.#read(), ([labels, distribution]) => this.#valuesOf(labels, distribution));
    return Promise.resolve({ ...this.#description, values: values.flat() });
  }

  #valuesOf(sharedLabels: Labels<Label>, distribution: Distribution) {
    const { count, sum } = distribution;
    const value = (what: string, labels: { le?: number | '+Inf' }, number: number) => ({
      metricName: `${this.#description.name}_${what}`,
      labels,
      sharedLabels,
      value: number,
    });
    return [
      ...distribution.cumulated().map(({ bound, count }) => value('bucket', { le: bound }, count)),
      value('bucket', { le: '+Inf' }, count),
      value('sum', {}, sum),
      value('count', {}, count),
    ];
  }
}
