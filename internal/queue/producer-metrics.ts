import { Distribution, TalliedHistogram } from '../kit/telemetry/distribution.ts';
import { batchBuckets, Counter, durationBuckets, metricsIn, type Registry } from '../kit/telemetry/metrics.ts';
import {
  createOrganizationLabel,
  defaultOrganizations,
  type OrganizationLabel,
} from '../kit/telemetry/organization-label.ts';

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
  const { counter } = metricsIn(registry);
  const replays = counter(
    'runledger_idempotent_replays_total',
    'Events answered with the result of an earlier request that had the same Idempotency-Key. Many: callers time out before the answer.',
  );
  const overflowed = counter(
    'runledger_overflowed_events_total',
    'Events sent to the overflow lane because their organization was beyond OVERFLOW_RATE. They delay nobody else.',
    ['organization'],
  );
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
  const { readGauge } = metricsIn(registry);
  readGauge(
    'runledger_commits_in_flight',
    'Commits to Redis under way now. At 4 all the time, Redis is the bottleneck.',
    (gauge) => gauge.set(load().inFlight),
  );
  readGauge('runledger_events_buffered', 'Events waiting for a commit now. Past 20,000 ingest answers 503.', (gauge) =>
    gauge.set(load().buffered),
  );
}

/** Events of one kind and organization. */
interface Series {
  readonly labels: { readonly kind: string; readonly organization: string };
  count: number;
}

/** Counts events by organization and kind as plain numbers, formatted at a scrape. */
export class EventTally {
  readonly #organizations = new Map<string, Series[]>();

  /** Adds one event. The caller bounds the values of the label `organization`. */
  add(organization: string, kind: string): void {
    const all = this.#organizations.get(organization) ?? [];
    if (all.length === 0) this.#organizations.set(organization, all);
    const known = all.find(({ labels }) => labels.kind === kind);
    if (known === undefined) all.push({ labels: { kind, organization }, count: 1 });
    else known.count += 1;
  }

  /** The counts so far, for kinds that occurred. */
  series(): Iterable<Series> {
    return [...this.#organizations.values()].flat();
  }
}
