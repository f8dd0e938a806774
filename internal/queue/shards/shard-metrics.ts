import { metricsIn, type Gauge, type Registry } from '../../kit/telemetry/metrics.ts';

export type ShardMetrics = ReturnType<typeof shardMetrics>;

/** The metrics of the queue's shards. A scrape calls `admitting`, which tells for each shard. */
export function shardMetrics(registry: Registry, admitting: () => readonly boolean[]) {
  const { counter, readGauge } = metricsIn(registry);
  const read = (gauge: Gauge<'shard'>): void => {
    for (const [shard, admits] of admitting().entries()) gauge.set({ shard: String(shard) }, admits ? 1 : 0);
  };
  readGauge(
    'runledger_shard_admitting',
    '1 while this ingest can put events into the shard, which is named by its place: shard 0 of each Redis in REDIS_URL, then shard 1 of each, and so on. 0 for one: the others take its events. 0 for all: ingest answers 503.',
    read,
    ['shard'],
  );
  return {
    repeated: counter(
      'runledger_events_repeated_total',
      'Events put into another shard because the first one failed or did not reply in time. Up to that many are in the queue twice; a worker ignores the second copy (runledger_events_duplicate_total).',
    ),
    moves: counter(
      'runledger_shard_moves_total',
      'How often ingest left its shard for another one. Rising: a Redis fails, or is full.',
    ),
  };
}
