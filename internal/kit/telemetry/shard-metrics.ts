import { Counter, Gauge, type Registry } from './metrics.ts';

export type ShardMetrics = ReturnType<typeof shardMetrics>;

/** The metrics of the queue's shards. A scrape calls `admitting`, which tells for each shard. */
export function shardMetrics(registry: Registry, admitting: () => readonly boolean[]) {
  const registers = [registry];
  // Constructed for the effect: a metric lives in its registry.
  void new Gauge({
    name: 'runledger_shard_admitting',
    help: '1 while this ingest can put events into the shard, which is named by its place in REDIS_URL or its number inside one Redis. 0 for one: the others take its events. 0 for all: ingest answers 503.',
    labelNames: ['shard'] as const,
    registers,
    collect() {
      for (const [shard, admits] of admitting().entries()) this.set({ shard: String(shard) }, admits ? 1 : 0);
    },
  });
  return {
    repeated: new Counter({
      name: 'runledger_events_repeated_total',
      help: 'Events put into another shard because the first one failed or did not reply in time. Up to that many are in the queue twice; a worker ignores the second copy (runledger_events_duplicate_total).',
      registers,
    }),
    moves: new Counter({
      name: 'runledger_shard_moves_total',
      help: 'How often ingest left its shard for another one. Rising: a Redis fails, or is full.',
      registers,
    }),
  };
}
