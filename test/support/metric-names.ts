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
import { Registry } from '../../internal/kit/telemetry/metrics.ts';
import { producerMetrics } from '../../internal/queue/producer-metrics.ts';
import { backlogMetrics, queueStatsMetrics } from '../../internal/queue/queue-metrics.ts';
import { rejectionMetrics } from '../../internal/intake/http/api-metrics.ts';
import { sealerMetrics } from '../../internal/worker/sealer-metrics.ts';
import { shardMetrics } from '../../internal/queue/shards/shard-metrics.ts';
import { tokenMetrics } from '../../internal/cluster/tokens/token-metrics.ts';
import { consumerMetrics } from '../../internal/queue/consumer-metrics.ts';
import { maintenanceMetrics, overflowStoreMetrics, storeMetrics } from '../../internal/worker/worker-metrics.ts';

/** What registers the metrics of each process. */
const registrations: ((registry: Registry) => void)[] = [
  registerRequests,
  registerProducer,
  registerQueue,
  tokenMetrics,
  consumerMetrics,
  registerStore,
  maintenanceMetrics,
  sealerMetrics,
  databaseMetrics,
  registerConsole,
  streamMetrics,
  loginMetrics,
  controllerMetrics,
  automationMetrics,
  notifyMetrics,
  registerCapture,
];

/** The names of all metrics of Runledger's own. */
export function metricNames(): string[] {
  return registrations.flatMap((register) => {
    const registry = new Registry();
    register(registry);
    // The types of the library hide the name.
    return registry.getMetricsAsArray().map((metric) => (metric as unknown as { name: string }).name);
  });
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
