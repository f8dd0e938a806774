import { batchBuckets, Counter, durationBuckets, Gauge, Histogram, type Registry, unknownAtFirst } from './metrics.ts';
import { createOrganizationLabel, defaultOrganizations, type OrganizationLabel } from './organization-label.ts';

export type ProducerMetrics = ReturnType<typeof producerMetrics>;
export type BacklogMetrics = ReturnType<typeof backlogMetrics>;

/** Why an event is answered with 503. */
const shedReasons = [
  'redis-unreachable',
  'redis-not-durable',
  'redis-memory',
  'backlog',
  'buffer-full',
  'commit-failed',
];

/** What ingest does with Redis: group commits, and what it turned away instead. */
export function producerMetrics(
  registry: Registry,
  organization: OrganizationLabel = createOrganizationLabel(defaultOrganizations),
) {
  const registers = [registry];
  const metrics = {
    /** The value of the label of that name. */
    organization,
    accepted: new Counter({
      name: 'runledger_events_accepted_total',
      help: 'Events that Redis has acknowledged, by kind and organization. The left side of the books.',
      labelNames: ['kind', 'organization'] as const,
      registers,
    }),
    batchSize: new Histogram({
      name: 'runledger_commit_batch_events',
      help: 'Events in one commit to Redis. Grows with load; at 500 all the time, ingest needs more pods.',
      buckets: batchBuckets,
      registers,
    }),
    commitSeconds: new Histogram({
      name: 'runledger_commit_duration_seconds',
      help: 'Time Redis took to make one commit durable. Slow: look at its disk.',
      buckets: durationBuckets,
      registers,
    }),
    inFlight: new Gauge({
      name: 'runledger_commits_in_flight',
      help: 'Commits to Redis under way now. At COMMITS_IN_FLIGHT all the time, Redis is the brake.',
      registers,
    }),
    buffered: new Gauge({
      name: 'runledger_events_buffered',
      help: 'Events waiting for a commit now. Past BUFFER_EVENTS ingest answers 503.',
      registers,
    }),
    sheds: new Counter({
      name: 'runledger_sheds_total',
      help: 'Events answered with 503, by reason. Callers are told to retry. The runbook of the availability alerts goes through the reasons.',
      labelNames: ['reason'] as const,
      registers,
    }),
    replays: new Counter({
      name: 'runledger_idempotent_replays_total',
      help: 'Requests answered from an earlier one with the same Idempotency-Key. Many: callers time out before the answer.',
      registers,
    }),
  };
  // Shown as 0 from the start: the first one must count as an increase.
  for (const reason of shedReasons) metrics.sheds.inc({ reason }, 0);
  return metrics;
}

/** What stands in the queue, and whether Redis keeps it. Every pod reports the same: aggregate with max, not sum. */
export function backlogMetrics(registry: Registry) {
  const registers = [registry];
  return {
    jobs: new Gauge({
      name: 'runledger_queue_jobs',
      help: 'Jobs (batches of events) in Redis, by state; the same from every pod: take the max. Waiting that grows: the workers do not keep up.',
      labelNames: ['state'] as const,
      registers,
    }),
    memoryShare: unknownAtFirst(
      new Gauge({
        name: 'runledger_redis_memory_ratio',
        help: 'Memory Redis uses as a share of its maxmemory (0 when it has none). Ingest sheds at REDIS_MAX_MEMORY_RATIO.',
        registers,
      }),
    ),
    durable: unknownAtFirst(
      new Gauge({
        name: 'runledger_redis_durable',
        help: '1 when Redis runs appendonly yes, appendfsync always and maxmemory-policy noeviction; 0 when a 201 may be lost. Take the min over pods.',
        registers,
      }),
    ),
    reachable: new Gauge({
      name: 'runledger_redis_reachable',
      help: '1 when Redis answered the last check. 0: ingest answers 503.',
      registers,
    }),
  };
}

/** What the queue holds, counted when Prometheus asks. */
export interface Census {
  /** Events in all jobs. */
  events: number;
  /** Age of the oldest job, in seconds; 0 without any. */
  oldestAge: number;
}

/** Figures that take more than a look: read once a scrape, for both. Not a number while Redis does not tell. */
export function censusMetrics(registry: Registry, takeCensus: () => Promise<Census>): void {
  const registers = [registry];
  const census = shared(() => takeCensus().catch(() => ({ events: Number.NaN, oldestAge: Number.NaN })));
  // Constructed for its effect: a metric lives in its registry.
  void new Gauge({
    name: 'runledger_queue_events',
    help: 'Events in the queue: accepted and not yet in Postgres. Exact up to 1,000 jobs, an estimate from their mean beyond; the same from every pod: take the max.',
    registers,
    async collect() {
      this.set((await census()).events);
    },
  });
  void new Gauge({
    name: 'runledger_queue_oldest_job_age_seconds',
    help: 'Age of the oldest job that is not finished, waiting or held by a worker. Past 30 s events miss the freshness objective.',
    registers,
    async collect() {
      this.set((await census()).oldestAge);
    },
  });
}

/** Callers that come while the work is under way share its result. */
function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  return () => {
    underWay ??= work().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}
