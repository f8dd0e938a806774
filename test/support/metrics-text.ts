import { rejectionReasons } from '../../internal/kit/errors/request-error.ts';
import { apiMetrics } from '../../internal/intake/http/api-metrics.ts';
import { databaseMetrics } from '../../internal/worker/worker-metrics.ts';
import { automationMetrics } from '../../internal/controller/declarations/automation-metrics.ts';
import { captureMetrics } from '../../internal/controller/capture/capture-metrics.ts';
import { readerMetrics } from '../../internal/record/archive/reader-metrics.ts';
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

/** What a metric of the library knows of itself; its types do not say. */
interface Described {
  name: string;
  help: string;
  labelNames: readonly string[];
}

/** Each area of the metrics, and what registers it. */
const areas: readonly (readonly [title: string, register: (registry: Registry) => void])[] = [
  ['Ingest: requests', registerRequests],
  ['Ingest: commits to Redis', registerProducer],
  ['Ingest: the queue and Redis', registerQueue],
  ['Ingest: tokens', tokenMetrics],
  ['Worker: jobs', consumerMetrics],
  ['Worker: Postgres', registerStore],
  ['Worker: maintenance', maintenanceMetrics],
  ['Worker: the log', sealerMetrics],
  ['Worker: several databases', databaseMetrics],
  ['Console: readers', registerConsole],
  ['Console: streams', streamMetrics],
  ['Console and worker: the archive', readerMetrics],
  ['Console: login', loginMetrics],
  ['Controller: expectations', controllerMetrics],
  ['Controller: declarations', automationMetrics],
  ['Controller: notifications', notifyMetrics],
  ['Controller: captured Jobs', registerCapture],
];

/** All metrics of Runledger's own, by area: name, labels, type and what a value says. */
export function metricsText(): string {
  const sections = areas.map(([title, register]) => `${title}\n\n${metricsOf(register).map(entry).join('\n')}`);
  return `${sections.join('\n\n')}\n`;
}

/** The names of all metrics of Runledger's own. */
export function metricNames(): string[] {
  return areas.flatMap(([, register]) => metricsOf(register).map(({ name }) => name));
}

function metricsOf(register: (registry: Registry) => void): (Described & { type: string })[] {
  const registry = new Registry();
  register(registry);
  return registry.getMetricsAsArray().map((metric) => {
    const { name, help, labelNames } = metric as unknown as Described;
    return { name, help, labelNames: labelNames.filter((label) => label !== 'le'), type: typeOf(metric) };
  });
}

function typeOf(metric: object): string {
  if (metric instanceof Counter) return 'counter';
  if (metric instanceof Gauge) return 'gauge';
  if (metric instanceof Histogram) return 'histogram';
  throw new Error('a metric of another type');
}

function entry({ name, labelNames, type, help }: Described & { type: string }): string {
  const labels = labelNames.length > 0 ? `{${labelNames.join(', ')}}` : '';
  return `${name}${labels} ${type}\n${help.replaceAll(/(.{1,96})(?: |$)/g, '    $1\n')}`;
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
