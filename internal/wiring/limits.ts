import type { Config } from '../config/read.ts';
import type { BacklogLimits } from '../queue/admission/backlog-guard.ts';
import type { ProducerOptions } from '../queue/producer.ts';

/** Most events and bytes, as V8 holds them, of one commit to Redis: a MiB takes ms to compress. */
const batch = { batchEvents: 500, batchBytes: 524_288 };

/** Memory of waiting events, in bytes, from which ingest answers 503. */
const bufferedBytes = 64 * 1_024 * 1_024;

export const producerSettings = ['COMMITS_IN_FLIGHT', 'BUFFER_EVENTS'] as const;

/** The settings of what Redis must guarantee before an event is acknowledged. */
export const durabilitySettings = ['REDIS_ACKS', 'REQUIRE_DURABLE_REDIS'] as const;

/** The settings of the queue that lead to the rejection of events. */
export const backledgerSettings = [...durabilitySettings, 'REDIS_MAX_MEMORY_RATIO', 'BACKLOG_MAX_JOBS'] as const;

export function producerLimits(config: Config<(typeof producerSettings)[number]>): ProducerOptions['limits'] {
  return {
    ...batch,
    commitsInFlight: config.COMMITS_IN_FLIGHT,
    bufferedEvents: config.BUFFER_EVENTS,
    bufferedBytes,
  };
}

/** The limits of a process that puts nothing into the overflow lane. */
export function backlogLimits(config: Config<(typeof backledgerSettings)[number]>): BacklogLimits {
  return {
    maxJobs: config.BACKLOG_MAX_JOBS,
    maxMemoryShare: config.REDIS_MAX_MEMORY_RATIO,
    overflowShare: 1,
    intervalMs: 500,
    requireDurable: config.REQUIRE_DURABLE_REDIS,
    replicaAcks: config.REDIS_ACKS,
  };
}
