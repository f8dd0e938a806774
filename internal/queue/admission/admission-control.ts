import type { RejectionReason } from '../../kit/errors/request-error.ts';
import type { Backlog } from './backlog.ts';

/** Limits past which ingest rejects events. */
export interface AdmissionLimits {
  /** Jobs waiting or delayed. */
  maxJobs: number;
  /** Share of Redis' `maxmemory`; at 1 the workers could not fetch either. */
  maxMemoryShare: number;
  /** Share of both limits at which the overflow lane is full. */
  overflowShare: number;
  /** Treats a Redis that may lose acknowledged events as one that cannot take any. */
  requireDurable: boolean;
  /** Replicas that must acknowledge each commit; 0 for none. */
  replicaAcks: number;
}

/**
 * Why ingest rejects every event now: `reason` is a metric label, `detail` a sentence for people.
 */
export interface Rejection {
  reason: RejectionReason;
  detail: string;
}

export const notChecked: Rejection = { reason: 'not-checked', detail: 'Redis has not answered yet.' };
export const isDemoted: Rejection = {
  reason: 'redis-replica',
  detail: 'Redis is a replica: it would lose new events.',
};

/**
 * The state of Redis: its backlog, the durability settings it lacks, whether it is a replica, and
 * the replicas that it has.
 */
export interface Found {
  backlog: Backlog;
  missing: string[];
  replica: boolean;
  /** Replicas that answer; 0 unless commits wait for replicas. */
  replicas: number;
}

/** Returns why events are rejected; undefined if they are admitted. */
export function admit({ backlog, missing, replica, replicas }: Found, limits: AdmissionLimits): Rejection | undefined {
  if (replica) return isDemoted;
  if (limits.requireDurable && missing.length > 0) {
    return { reason: 'redis-not-durable', detail: `Redis may lose acknowledged events: ${missing.join('; ')}.` };
  }
  if (replicas < limits.replicaAcks) {
    const detail = `Redis has ${replicas} of the ${limits.replicaAcks} replicas that REDIS_ACKS requires.`;
    return { reason: 'redis-replicas', detail };
  }
  if (backlog.memoryShare >= limits.maxMemoryShare) return { reason: 'redis-memory', detail: 'Redis is nearly full.' };
  const jobs = backlog.waiting + backlog.delayed;
  return jobs >= limits.maxJobs ? { reason: 'backlog', detail: 'The backlog is too long.' } : undefined;
}

/** Share of `maxMemoryShare` at which new keys are refused, so that other events find room. */
const keysShare = 0.9;

/** True when Redis takes no new idempotency keys, which stay for a day or two. */
export function isFullOfKeys({ memoryShare }: Backlog, { maxMemoryShare }: AdmissionLimits): boolean {
  return memoryShare >= maxMemoryShare * keysShare;
}

/** True when the overflow lane takes no more events, so that everybody else finds room. */
export function isOverflowFull(backlog: Backlog, { maxJobs, maxMemoryShare, overflowShare }: AdmissionLimits): boolean {
  return backlog.overflow >= maxJobs * overflowShare || backlog.memoryShare >= maxMemoryShare * overflowShare;
}
