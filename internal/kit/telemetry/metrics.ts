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

/** A gauge that `/metrics` omits until it is set, since 0 would look like a result. */
export function unknownAtFirst<Label extends string>(gauge: Gauge<Label>): Gauge<Label> {
  gauge.remove({});
  return gauge;
}

/** A gauge of one shard of the queue. */
export interface ShardGauge {
  set(value: number): void;
  remove(): void;
}

/**
 * The gauge of one shard, without the label `shard` if the queue has only one. `/metrics` omits it
 * until it is set.
 */
export function ofShard<Label extends string = 'shard'>(
  gauge: Gauge<Label | 'shard'>,
  shard: string | undefined,
  labels: Partial<Record<Label | 'shard', string>> = {},
): ShardGauge {
  const all = { ...labels, ...(shard !== undefined && { shard }) };
  return { set: (value) => gauge.set(all, value), remove: () => gauge.remove(all) };
}

/** Durations from 1 ms to 10 s, in seconds, for commits and statements. */
export const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];

/** Durations from 1 ms to 2 s, in seconds, for requests: each gets its answer within 2 s. */
export const requestBuckets = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 2];

/** Sizes of batches, in events. */
export const batchBuckets = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2000];
