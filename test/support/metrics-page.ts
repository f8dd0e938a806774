import { rejectionReasons } from '../../internal/kit/errors/request-error.ts';
import { apiMetrics } from '../../internal/intake/http/api-metrics.ts';
import { databaseMetrics } from '../../internal/worker/worker-metrics.ts';
import { automationMetrics } from '../../internal/controller/declarations/automation-metrics.ts';
import { captureMetrics } from '../../internal/controller/capture/capture-metrics.ts';
import { consoleMetrics } from '../../internal/record/console-metrics.ts';
import { streamMetrics } from '../../internal/readapi/stream/stream-metrics.ts';
import { controllerMetrics } from '../../internal/controller/verdicts/controller-metrics.ts';
import { limitMetrics } from '../../internal/intake/http/api-metrics.ts';
import { loginMetrics } from '../../internal/login/login-metrics.ts';
import { notifyMetrics } from '../../internal/controller/notify/notify-metrics.ts';
import { Counter, Gauge, Histogram, Registry } from '../../internal/kit/telemetry/metrics.ts';
import { producerMetrics } from '../../internal/queue/producer-metrics.ts';
import { backlogMetrics, queueStatsMetrics } from '../../internal/queue/queue-metrics.ts';
import { rejectionMetrics } from '../../internal/intake/http/api-metrics.ts';
import { sealerMetrics } from '../../internal/worker/sealer-metrics.ts';
import { shardMetrics } from '../../internal/queue/shards/shard-metrics.ts';
import { tokenMetrics } from '../../internal/cluster/tokens/token-metrics.ts';
import { consumerMetrics } from '../../internal/queue/consumer-metrics.ts';
import { maintenanceMetrics, overflowStoreMetrics, storeMetrics } from '../../internal/worker/worker-metrics.ts';

import { compactTable } from './compact-table.ts';

/** What a metric of the library knows of itself; its types do not say. */
interface Described {
  name: string;
  help: string;
  labelNames: readonly string[];
}

/** Every area of the metrics, the process that shows it, and what registers it. */
const areas: { title: string; register: (registry: Registry) => void }[] = [
  { title: 'Ingest: requests', register: registerRequests },
  { title: 'Ingest: commits to Redis', register: registerProducer },
  { title: 'Ingest: the queue and Redis', register: registerQueue },
  { title: 'Ingest: tokens', register: tokenMetrics },
  { title: 'Worker: jobs', register: consumerMetrics },
  { title: 'Worker: Postgres', register: registerStore },
  { title: 'Worker: maintenance', register: maintenanceMetrics },
  { title: 'Worker: the log', register: sealerMetrics },
  { title: 'Worker: several databases', register: databaseMetrics },
  { title: 'Console: readers', register: registerConsole },
  { title: 'Console: streams', register: streamMetrics },
  { title: 'Console: login', register: loginMetrics },
  { title: 'Controller: expectations', register: controllerMetrics },
  { title: 'Controller: declarations', register: automationMetrics },
  { title: 'Controller: notifications', register: notifyMetrics },
  { title: 'Controller: captured Jobs', register: registerCapture },
];

/** The tables of the page of metrics, made from the registries. */
export function metricsTables(): string {
  return areas.map(({ title, register }) => `## ${title}\n\n${table(metricsOf(register))}`).join('\n\n');
}

/** The names of all metrics of Runledger's own. */
export function metricNames(): string[] {
  return areas.flatMap(({ register }) => metricsOf(register).map(({ name }) => name));
}

function registerRequests(registry: Registry): void {
  apiMetrics(registry);
  rejectionMetrics(registry, rejectionReasons);
  limitMetrics(registry);
}

function registerProducer(registry: Registry): void {
  producerMetrics(registry, () => ({ inFlight: 0, buffered: 0 }));
}

function registerCapture(registry: Registry): void {
  captureMetrics(registry, () => 0);
}

function registerStore(registry: Registry): void {
  overflowStoreMetrics(registry, storeMetrics(registry));
}

function registerConsole(registry: Registry): void {
  consoleMetrics(registry, new Map());
}

function registerQueue(registry: Registry): void {
  backlogMetrics(registry);
  shardMetrics(registry, () => [true]);
  const empty = { events: 0, oldestAge: 0 };
  queueStatsMetrics(registry, () => Promise.resolve({ main: empty, overflow: empty }));
}

function metricsOf(register: (registry: Registry) => void): (Described & { type: string })[] {
  const registry = new Registry();
  register(registry);
  return registry.getMetricsAsArray().map((metric) => {
    const { name, help, labelNames } = metric as unknown as Described;
    return {
      name,
      help,
      labelNames: labelNames.filter((label) => label !== 'le'),
      type: typeOf(metric),
    };
  });
}

function typeOf(metric: object): string {
  if (metric instanceof Counter) return 'counter';
  if (metric instanceof Gauge) return 'gauge';
  if (metric instanceof Histogram) return 'histogram';
  throw new Error('a metric of another type');
}

function table(metrics: (Described & { type: string })[]): string {
  const rows = metrics.map(({ name, type, labelNames, help }) => {
    const labels = labelNames.map((label) => `\`${label}\``).join(' ');
    return [`\`${name}\``, type, labels, help];
  });
  return compactTable(['Metric', 'Type', 'Labels', 'What it says'], rows);
}
