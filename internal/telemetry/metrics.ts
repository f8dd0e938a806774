import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export { Counter, Gauge, Histogram, Registry };

/**
 * Defaults of the library whose names Prometheus' own linter refuses: gauges called `_total`. The
 * same by type stays.
 */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_resources_total', 'nodejs_active_requests_total'];

/** A fresh registry with the process' own metrics (CPU, memory, event-loop lag), for `/metrics`. */
export function createRegistry(process: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ process });
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  return registry;
}

/**
 * A gauge that is left out of `/metrics` until it is first set: 0 would be taken for what was
 * found.
 */
export function unknownAtFirst(gauge: Gauge): Gauge {
  gauge.remove();
  return gauge;
}

/** Durations from 1 ms to 10 s, in seconds: what commits and statements take. */
export const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];

/** Durations from 1 ms to 2 s, in seconds, for requests: each gets its answer within 2 s. */
export const requestBuckets = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 2];

/** Sizes of batches, in events. */
export const batchBuckets = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2000];
