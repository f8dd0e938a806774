import { JobCapture } from '../../internal/controller/capture/job-capture.ts';
import { readConfig } from '../../internal/config/read.ts';
import { createIdentitySource } from '../../internal/event/identity.ts';
import type { Component } from '../../internal/kit/lifecycle/component.ts';
import { Producer } from '../../internal/queue/producer.ts';
import type { Database } from '../../internal/store/database.ts';
import { captureMetrics } from '../../internal/controller/capture/capture-metrics.ts';
import { Registry } from '../../internal/kit/telemetry/metrics.ts';
import { producerMetrics } from '../../internal/queue/producer-metrics.ts';
import type { Telemetry } from '../../internal/kit/telemetry/telemetry.ts';
import { clusterAccount } from '../../internal/wiring/cluster-account.ts';
import { backlogLimits, producerLimits, producerSettings } from '../../internal/wiring/limits.ts';
import { createShards } from '../../internal/wiring/shards.ts';
import type { JobConfig } from './job-settings.ts';

/** One caller, which waits for every answer. */
const callers = { open: 1, opened: 1 };

export interface CapturedJobs {
  readonly capture: JobCapture;
  /** In the order of their start. */
  readonly parts: readonly Component[];
}

/** Wires the capture of Jobs: API server → queue. */
export function createJobCapture(
  config: JobConfig,
  db: Database,
  telemetry: Telemetry,
  otherDatabaseOf?: (organization: string) => Database | undefined,
): CapturedJobs {
  const { logger, registry, probes, organization, tracing } = telemetry;
  // Hidden: the alert on a missing ingest fires when no process shows the state of Redis.
  const hidden = new Registry();
  const { shards, parts } = createShards(config, backlogLimits(config), telemetry, hidden);
  // A scrape calls this after the producer exists.
  const metrics = producerMetrics(registry, () => producer.load, organization);
  const producer = new Producer({
    shards,
    replicaAcks: config.REDIS_ACKS,
    idempotencyHours: config.IDEMPOTENCY_HOURS,
    // Uses the defaults: batches of ingest's size suit a few events too.
    limits: producerLimits(readConfig(producerSettings, {})),
    callers,
    seals: config.LEDGER_DIGESTS,
    metrics,
    logger,
    tracing,
  });
  const lagMs = (): number => {
    const now = Date.now();
    return now - Math.min(capture.pendingSince ?? now, capture.behind?.oldestAt ?? now);
  };
  const capture = new JobCapture({
    connect: clusterAccount(config, 'CAPTURE_JOBS=false'),
    namespaces: config.AUTOMATIONS_NAMESPACES?.split(',') ?? [],
    db,
    enqueueAll: (events, which) => producer.enqueueAll(events, which),
    identify: createIdentitySource(),
    otherDatabaseOf,
    metrics: captureMetrics(registry, lagMs),
    logger,
  });
  probes.ready.set('jobs', () => capture.unready());
  return { capture, parts: [...parts, producer, capture] };
}
