import { batchBuckets, Counter, durationBuckets, Gauge, Histogram, type Registry } from './metrics.ts';

export type ProducerMetrics = ReturnType<typeof producerMetrics>;
export type BacklogMetrics = ReturnType<typeof backlogMetrics>;

/** What ingest does with Redis: group commits, and what it turned away instead. */
export function producerMetrics(registry: Registry) {
  const registers = [registry];
  return {
    accepted: new Counter({
      name: 'runledger_events_accepted_total',
      help: 'Events acknowledged with a 201, by kind. The first figure of the books.',
      labelNames: ['kind'] as const,
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
    inFlight: new Gauge({ name: 'runledger_commits_in_flight', help: 'Commits under way now.', registers }),
    buffered: new Gauge({ name: 'runledger_events_buffered', help: 'Events waiting for a commit now.', registers }),
    sheds: new Counter({
      name: 'runledger_sheds_total',
      help: 'Events answered with 503, by reason. Callers are told to retry.',
      labelNames: ['reason'] as const,
      registers,
    }),
    replays: new Counter({
      name: 'runledger_idempotent_replays_total',
      help: 'Requests answered from an earlier one with the same Idempotency-Key.',
      registers,
    }),
  };
}

/** What stands in the queue, and whether Redis keeps it. Every pod reports the same: aggregate with max, not sum. */
export function backlogMetrics(registry: Registry) {
  const registers = [registry];
  return {
    jobs: new Gauge({
      name: 'runledger_queue_jobs',
      help: 'Jobs (batches of events) in Redis, by state. Waiting that grows: the workers do not keep up.',
      labelNames: ['state'] as const,
      registers,
    }),
    memoryShare: new Gauge({
      name: 'runledger_redis_memory_ratio',
      help: 'Memory Redis uses as a share of its maxmemory (0 when it has none). Ingest sheds at the configured limit.',
      registers,
    }),
    durable: new Gauge({
      name: 'runledger_redis_durable',
      help: '1 when Redis runs appendonly yes, appendfsync always and maxmemory-policy noeviction; 0 when a 201 may be lost.',
      registers,
    }),
    reachable: new Gauge({
      name: 'runledger_redis_reachable',
      help: '1 when Redis answered the last check. 0: ingest answers 503.',
      registers,
    }),
  };
}
