import { metricsIn, ofShard, type Registry } from '../kit/telemetry/metrics.ts';

export type ConsumerMetrics = Omit<ReturnType<typeof consumerMetrics>, 'ofShard'>;

/**
 * Why a job is set aside: its checksum is wrong, its events would take too much memory, or several
 * workers died with it.
 */
export const jobFaults = ['damaged', 'too-large', 'deadly'] as const;
export type JobFault = (typeof jobFaults)[number];

/** The metrics of jobs before they reach the store. */
export function consumerMetrics(registry: Registry) {
  const { counter, gauge } = metricsIn(registry);
  const counters = {
    stalled: counter(
      'runledger_jobs_stalled_total',
      'Jobs recovered from a worker that stopped renewing its lock because it was killed or frozen. No event is lost.',
    ),
    unreadable: counter(
      'runledger_jobs_unreadable_total',
      'How often a worker returned a job because a newer release wrote it and this one would lose some of it. Rising: update the workers.',
    ),
    setAside: counter(
      'runledger_jobs_set_aside_total',
      'Jobs whose events a worker must not store, by reason. They stay among the failed jobs of the queue until a person decides.',
      ['reason'],
    ),
  };
  // Starts at 0, so that the first one is an increase.
  for (const reason of jobFaults) counters.setAside.inc({ reason }, 0);
  const durable = gauge(
    'runledger_worker_redis_durable',
    'As runledger_redis_durable, checked by a worker every 5 s. 0: Redis may lose events.',
    ['shard'],
  );
  /** The counters with the gauge of one shard, if the queue has several. */
  const ofOne = (shard?: string) => ({ ...counters, durable: ofShard(durable, shard) });
  return { ...ofOne(), ofShard: ofOne };
}
