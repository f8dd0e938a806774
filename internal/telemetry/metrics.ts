import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export { Counter, Gauge, Histogram, Registry };

/** A fresh registry with the process' own metrics (CPU, memory, event-loop lag), for `/metrics`. */
export function createRegistry(process: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ process });
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** Durations from 1 ms to 10 s, in seconds: what requests, commits and statements take. */
export const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];

/** Sizes of batches, in events. */
export const batchBuckets = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2000];
