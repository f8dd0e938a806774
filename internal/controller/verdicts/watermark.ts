import type { Gap } from '../../expectation/history.ts';
import type { Held } from '../../expectation/transition.ts';

/**
 * Longest time, in ms, from the acceptance of an event until Redis has it, with a reserve for
 * clocks that differ and for the notes of ingest.
 */
const marginMs = 10_000;

/** Largest difference of two clocks, in ms. Beyond it, the watermark does not move. */
const clocksDifferMs = 60_000;

/**
 * The watermark waits so long, in ms, for the events of the overflow lane. For an older lane only
 * the verdicts of its organizations wait.
 */
const overflowMs = 30_000;

/** What is known about the queue; times in ms since the Unix epoch. */
export interface QueueReading {
  /** The clock of Redis. */
  now: number;
  /** When the oldest job was added; undefined without any. */
  oldestAt: number | undefined;
  /** When ingest last took events; undefined if never. */
  admittingAt: number | undefined;
  /** Times in which ingest may have rejected events. */
  gaps: readonly Gap[];
  /** Since when changes of Jobs wait to be recorded; undefined if none does. */
  uncapturedSince?: number | undefined;
  /** Why events wait beside the queue for this database; undefined if none do. */
  waiting?: string | undefined;
  /** The oldest job of the overflow lane, and whose events are there; undefined if it is empty. */
  overflow?: { oldestAt: number; organizations: readonly string[] } | undefined;
}

/** The clocks beside the one of Redis, in ms since the Unix epoch. */
export interface Clocks {
  controller: number;
  postgres: number;
}

/** The time up to which the record is complete, or one sentence why that cannot be known. */
export type Watermark = { at: number; reason?: undefined } | { at?: undefined; reason: string };

/** The organizations for whose events in the overflow lane the watermark does not wait. */
export function heldOf({ now, overflow }: QueueReading): Held | undefined {
  if (overflow === undefined || overflow.oldestAt >= now - overflowMs) return undefined;
  return { organizations: overflow.organizations, until: overflow.oldestAt - marginMs };
}

/**
 * All events that ingest accepted before this time are in Postgres, if the queue was read before
 * Postgres is; except events of the organizations of {@link heldOf}.
 */
export function watermarkOf(queue: QueueReading, clocks: Clocks): Watermark {
  const all = [clocks.controller, clocks.postgres, queue.now];
  const difference = Math.max(...all) - Math.min(...all);
  if (difference > clocksDifferMs) {
    const seconds = Math.round(difference / 1_000);
    return { reason: `The clocks of the controller, Redis and Postgres differ by ${seconds} s.` };
  }
  if (queue.waiting !== undefined) return { reason: queue.waiting };
  if (queue.admittingAt === undefined) return { reason: 'No ingest has taken events yet.' };
  const { admittingAt, oldestAt = Infinity, uncapturedSince = Infinity } = queue;
  const overflowAt = heldOf(queue) === undefined ? (queue.overflow?.oldestAt ?? Infinity) : Infinity;
  return { at: Math.min(...all, admittingAt, oldestAt, overflowAt, uncapturedSince) - marginMs };
}

/** Why a watermark is far behind the clocks. */
export function reasonOfLag(queue: QueueReading): string {
  const { now, oldestAt = Infinity, admittingAt = -Infinity, uncapturedSince = Infinity } = queue;
  if (uncapturedSince < Math.min(oldestAt, admittingAt, now)) return 'Jobs of the cluster are not recorded yet.';
  if (oldestAt < Math.min(admittingAt, now)) return 'The workers have not stored the events in the queue.';
  return 'No ingest takes events.';
}
