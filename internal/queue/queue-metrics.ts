import { metricsIn, ofShard, type Registry } from '../kit/telemetry/metrics.ts';

export type BacklogMetrics = ReturnType<ReturnType<typeof backlogMetrics>>;

/**
 * The metrics of the queue and of Redis' durability. Every pod reports the same values, so
 * aggregate with max, not sum. They have the label `shard` if the queue has several.
 * @returns the metrics of one shard.
 */
export function backlogMetrics(registry: Registry) {
  const { gauge } = metricsIn(registry);
  const gauges = {
    jobs: gauge(
      'runledger_queue_jobs',
      'Jobs (batches of events) in Redis, by state. Every pod reports the same value: use max. Growing waiting jobs: the workers are too slow. Failed jobs: workers have set them aside.',
      ['state', 'shard'],
    ),
    memoryShare: gauge(
      'runledger_redis_memory_ratio',
      'Memory of Redis as a share of its maxmemory; 0 without maxmemory. At 0.75, ingest answers 503.',
      ['shard'],
    ),
    durable: gauge(
      'runledger_redis_durable',
      '1 when Redis has all durability settings; 0 when it may lose an event that got a 201. Use min over pods.',
      ['shard'],
    ),
    replicas: gauge(
      'runledger_redis_replicas',
      'Redis replicas that answer their master; only with REDIS_ACKS. Fewer than REDIS_ACKS: ingest answers 503.',
      ['shard'],
    ),
    reachable: gauge('runledger_redis_reachable', '1 when Redis answered the last check. 0: ingest answers 503.', [
      'shard',
    ]),
  };
  return (shard?: string) => {
    const jobs = (state: JobState) => ofShard<'state' | 'shard'>(gauges.jobs, shard, { state });
    const of = {
      memoryShare: ofShard(gauges.memoryShare, shard),
      durable: ofShard(gauges.durable, shard),
      replicas: ofShard(gauges.replicas, shard),
      reachable: ofShard(gauges.reachable, shard),
    };
    of.reachable.set(0);
    /** Clears the gauges of an unavailable Redis, since their last values would look current. */
    const forget = (): void => {
      of.reachable.set(0);
      for (const state of jobStates) jobs(state).remove();
      of.memoryShare.remove();
      of.replicas.remove();
    };
    return { ...of, jobs, forget };
  };
}

/** The states of a job that are shown. */
export const jobStates = ['waiting', 'active', 'delayed', 'failed'] as const;
type JobState = (typeof jobStates)[number];

/** The content of the queue, read at each scrape. */
export interface QueueStats {
  /** Events in all jobs. */
  events: number;
  /** Age of the oldest job, in seconds; 0 without any. */
  oldestAge: number;
}

/** The content of a queue, and that of its overflow lane. */
export interface LaneStats {
  main: QueueStats;
  overflow: QueueStats;
}

const unknown = { events: Number.NaN, oldestAge: Number.NaN };

/**
 * Gauges that need a script in Redis, with one read per scrape for all. NaN while Redis is
 * unavailable.
 */
export function queueStatsMetrics(registry: Registry, readStats: () => Promise<LaneStats>): void {
  const { readGauge } = metricsIn(registry);
  const stats = shared(() => readStats().catch(() => ({ main: unknown, overflow: unknown })));
  readGauge(
    'runledger_queue_events',
    'Events in the queue and its overflow lane: accepted and not yet in Postgres. Exact up to 1,000 jobs, an estimate beyond. Every pod reports the same value: use max.',
    async (gauge) => {
      const { main, overflow } = await stats();
      gauge.set(main.events + overflow.events);
    },
  );
  readGauge(
    'runledger_queue_oldest_job_age_seconds',
    'Age of the oldest job in the queue or at a worker. Past 30 s events miss the freshness objective.',
    async (gauge) => gauge.set((await stats()).main.oldestAge),
  );
  readGauge(
    'runledger_overflow_events',
    'Events in the overflow lane: of organizations beyond OVERFLOW_RATE, accepted and not yet in Postgres. Every pod reports the same value: use max.',
    async (gauge) => gauge.set((await stats()).overflow.events),
  );
  readGauge(
    'runledger_overflow_oldest_job_age_seconds',
    'Age of the oldest job of the overflow lane. Past 30 s the verdicts of its organizations wait for it.',
    async (gauge) => gauge.set((await stats()).overflow.oldestAge),
  );
}

/** Concurrent callers share one run of the work. */
function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  return () => {
    underWay ??= work().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}
