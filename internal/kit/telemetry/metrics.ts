import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export { Counter, Gauge, Histogram, Registry };

/**
 * Default gauges with names in `_total`, which Prometheus' linter rejects. The same figures by type
 * stay.
 */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_resources_total', 'nodejs_active_requests_total'];

/** Creates a registry with the metrics of the process (CPU, memory, event-loop lag). */
export function createRegistry(process: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ process });
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  return registry;
}

/**
 * Makes metrics that a registry shows. docs/reference/metrics.txt has their help texts, which say
 * what to do about a value.
 */
export function metricsIn(registry: Registry) {
  const registers = [registry];
  const gauge = <const Label extends string = never>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
  ): Gauge<Label> => new Gauge({ name, help, labelNames, registers });
  return {
    counter: <const Label extends string = never>(
      name: string,
      help: string,
      labelNames: readonly Label[] = [],
    ): Counter<Label> => new Counter({ name, help, labelNames, registers }),
    gauge,
    /** A gauge that `/metrics` omits until it is set, since 0 would look like a result. */
    lateGauge: <const Label extends string = never>(...description: Parameters<typeof gauge<Label>>): Gauge<Label> =>
      unknownAtFirst(gauge<Label>(...description)),
    /** A gauge that `read` sets at each scrape. */
    readGauge: <const Label extends string = never>(
      name: string,
      help: string,
      read: (gauge: Gauge<Label>) => void | Promise<void>,
      labelNames: readonly Label[] = [],
    ): Gauge<Label> => {
      const made: Gauge<Label> = new Gauge({ name, help, labelNames, registers, collect: () => read(made) });
      return made;
    },
    histogram: <const Label extends string = never>(
      name: string,
      help: string,
      buckets: readonly number[],
      labelNames: readonly Label[] = [],
    ): Histogram<Label> => new Histogram({ name, help, buckets: [...buckets], labelNames, registers }),
  };
}

/** A gauge that `/metrics` omits until it is set, since 0 would look like a result. */
export function unknownAtFirst<Label extends string>(gauge: Gauge<Label>): Gauge<Label> {
  gauge.remove({});
  return gauge;
}

/** A gauge, as seen by the part that serves one database or one shard. */
export interface PartGauge {
  set(value: number): void;
  remove(): void;
}

/** The gauge of a database among several, labelled with its name; otherwise the plain gauge. */
export function gaugeOf(gauge: Gauge<'database'>, database: string | undefined): PartGauge {
  if (database === undefined) return { set: (value) => gauge.set(value), remove: () => gauge.remove({}) };
  return { set: (value) => gauge.set({ database }, value), remove: () => gauge.remove({ database }) };
}

/**
 * The gauge of one shard, without the label `shard` if the queue has only one. `/metrics` omits it
 * until it is set.
 */
export function ofShard<Label extends string = 'shard'>(
  gauge: Gauge<Label | 'shard'>,
  shard: string | undefined,
  labels: Partial<Record<Label | 'shard', string>> = {},
): PartGauge {
  const all = { ...labels, ...(shard !== undefined && { shard }) };
  return { set: (value) => gauge.set(all, value), remove: () => gauge.remove(all) };
}

/** Durations from 1 ms to 10 s, in seconds, for commits and statements. */
export const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];

/** Durations from 1 ms to 2 s, in seconds, for requests: each gets its answer within 2 s. */
export const requestBuckets = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 2];

/** Sizes of batches, in events. */
export const batchBuckets = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2000];
