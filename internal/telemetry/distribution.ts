import { Histogram, type HistogramConfiguration } from 'prom-client';

/**
 * How many values are in which bucket, and their sum, in plain numbers that metrics show when they
 * are scraped. The library's own histogram makes a text of the labels of each value and looks that
 * up (test/bench/README.md).
 */
export class Distribution {
  readonly #bounds: readonly number[];
  readonly #buckets: number[];
  count = 0;
  sum = 0;

  /**
   * @param bounds upper bounds of the buckets, in order; what is above the last is only counted.
   */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#buckets = bounds.map(() => 0);
  }

  /** One more value. */
  add(value: number): void {
    this.count += 1;
    this.sum += value;
    const bucket = this.#bounds.findIndex((bound) => value <= bound);
    if (bucket !== -1) this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
  }

  /** For each bound, how many values are not above it. */
  cumulated(): { bound: number; count: number }[] {
    let count = 0;
    return this.#bounds.map((bound, bucket) => {
      count += this.#buckets[bucket] ?? 0;
      return { bound, count };
    });
  }
}

type Labels<Label extends string> = Partial<Record<Label, string>>;

/** Shows distributions as a histogram. Only they are shown: observing does nothing. */
export class TalliedHistogram<Label extends string = never> extends Histogram<Label> {
  readonly #description: { name: string; help: string; type: 'histogram'; aggregator: 'sum' };
  readonly #read: () => Iterable<readonly [Labels<Label>, Distribution]>;

  /**
   * @param read what is to be shown, asked for at each scrape: distributions with the same bounds.
   */
  constructor(
    configuration: Omit<HistogramConfiguration<Label>, 'buckets'> & { buckets: readonly number[] },
    read: () => Iterable<readonly [Labels<Label>, Distribution]>,
  ) {
    super({ ...configuration, buckets: [...configuration.buckets] });
    const { name, help } = configuration;
    this.#description = { name, help, type: 'histogram', aggregator: 'sum' };
    this.#read = read;
  }

  /** What the library's registry and its `get` ask a histogram for; its types do not say. */
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
