import { Distribution, TalliedHistogram } from './distribution.ts';
import { EventTally } from './event-tally.ts';
import { batchBuckets, Counter, durationBuckets, Gauge, type Registry } from './metrics.ts';
import { createOrganizationLabel, defaultOrganizations, type OrganizationLabel } from './organization-label.ts';

export type ProducerMetrics = ReturnType<typeof producerMetrics>;

/** The producer's current load. */
export interface ProducerLoad {
  /** Commits under way. */
  inFlight: number;
  /** Events that wait for a commit. */
  buffered: number;
}

/**
 * The metrics of group commits. Those that change with each event are plain numbers. A scrape calls
 * `load`.
 */
export function producerMetrics(
  registry: Registry,
  load: () => ProducerLoad,
  organization: OrganizationLabel = createOrganizationLabel(defaultOrganizations),
) {
  const tallies = {
    accepted: new EventTally(),
    batchSize: new Distribution(batchBuckets),
    commitSeconds: new Distribution(durationBuckets),
  };
  showTallies(registry, tallies);
  showLoad(registry, load);
  const registers = [registry];
  const replays = new Counter({
    name: 'runledger_idempotent_replays_total',
    help: 'Events answered with the result of an earlier request that had the same Idempotency-Key. Many: callers time out before the answer.',
    registers,
  });
  const overflowed = new Counter({
    name: 'runledger_overflowed_events_total',
    help: 'Events sent to the overflow lane because their organization was beyond OVERFLOW_RATE. They delay nobody else.',
    labelNames: ['organization'] as const,
    registers,
  });
  /** `organization` maps an organization to its label value. */
  return {
    ...tallies,
    organization,
    replays,
    overflowed,
  };
}

interface Tallies {
  accepted: EventTally;
  /** Events in each commit. */
  batchSize: Distribution;
  /** How long each commit took, in seconds. */
  commitSeconds: Distribution;
}

function showTallies(registry: Registry, { accepted, batchSize, commitSeconds }: Tallies): void {
  const counter = new Counter({
    name: 'runledger_events_accepted_total',
    help: 'Events that Redis has acknowledged, by kind and organization. Reconciliation: accepted = stored + queued + dead-lettered.',
    labelNames: ['kind', 'organization'] as const,
    registers: [],
    collect() {
      this.reset();
      for (const { labels, count } of accepted.series()) this.inc(labels, count);
    },
  });
  const sizes = {
    name: 'runledger_commit_batch_events',
    help: 'Events in one commit to Redis. Grows with load; at 500 all the time, add ingest pods.',
    buckets: batchBuckets,
    registers: [],
  };
  const durations = {
    name: 'runledger_commit_duration_seconds',
    help: 'Duration of one commit in Redis, including the sync to disk. Slow: check the disk of Redis.',
    buckets: durationBuckets,
    registers: [],
  };
  registry.registerMetric(counter);
  registry.registerMetric(new TalliedHistogram(sizes, () => [[{}, batchSize]]));
  registry.registerMetric(new TalliedHistogram(durations, () => [[{}, commitSeconds]]));
}

function showLoad(registry: Registry, load: () => ProducerLoad): void {
  // Constructed for the effect: a metric lives in its registry.
  void new Gauge({
    name: 'runledger_commits_in_flight',
    help: 'Commits to Redis under way now. At 4 all the time, Redis is the bottleneck.',
    registers: [registry],
    collect() {
      this.set(load().inFlight);
    },
  });
  void new Gauge({
    name: 'runledger_events_buffered',
    help: 'Events waiting for a commit now. Past 20,000 ingest answers 503.',
    registers: [registry],
    collect() {
      this.set(load().buffered);
    },
  });
}
