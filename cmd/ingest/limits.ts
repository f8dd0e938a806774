import type { Config } from '../../internal/config/read.ts';
import type { BacklogLimits } from '../../internal/queue/backlog-guard.ts';
import type { ProducerOptions } from '../../internal/queue/producer.ts';

/** The settings of the batches that go to Redis. */
export const producerSettings = [
  'COMMIT_BATCH_EVENTS',
  'COMMIT_BATCH_BYTES',
  'COMMITS_IN_FLIGHT',
  'BUFFER_EVENTS',
  'BUFFER_BYTES',
] as const;

/** The settings of what Redis must be before it holds an acknowledged event. */
export const durabilitySettings = ['REDIS_ACKS', 'REQUIRE_DURABLE_REDIS'] as const;

/** The settings of the queue from which events are rejected. */
export const backlogSettings = [...durabilitySettings, 'REDIS_MAX_MEMORY_RATIO', 'BACKLOG_MAX_JOBS'] as const;

export function producerLimits(config: Config<(typeof producerSettings)[number]>): ProducerOptions['limits'] {
  return {
    batchEvents: config.COMMIT_BATCH_EVENTS,
    batchBytes: config.COMMIT_BATCH_BYTES,
    commitsInFlight: config.COMMITS_IN_FLIGHT,
    bufferedEvents: config.BUFFER_EVENTS,
    bufferedBytes: config.BUFFER_BYTES,
  };
}

/** As of a process that puts nothing into the overflow lane. */
export function backlogLimits(config: Config<(typeof backlogSettings)[number]>): BacklogLimits {
  return {
    maxJobs: config.BACKLOG_MAX_JOBS,
    maxMemoryShare: config.REDIS_MAX_MEMORY_RATIO,
    overflowShare: 1,
    intervalMs: 500,
    requireDurable: config.REQUIRE_DURABLE_REDIS,
    replicaAcks: config.REDIS_ACKS,
  };
}
