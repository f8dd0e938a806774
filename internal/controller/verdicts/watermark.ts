import type { Gap } from '../../expectation/history.ts';
import type { Held } from '../../expectation/transition.ts';

/**
 * Maximum time from the acceptance of an event until Redis has it, in ms, with a margin for clock
 * differences and for the notes of ingest.
 */
const marginMs = 10_000;

/** Maximum difference between two clocks, in ms. Beyond it, the watermark does not move. */
const clocksDifferMs = 60_000;

/**
 * How long the watermark waits for the organizations that are {@link Behind}, in ms. Then only
 * their own verdicts wait.
 */
const behindMs = 30_000;

/** Organizations with more events than the others, which are therefore recorded later. */
export interface Behind {
  /** The time of the oldest event that waits, in ms since the Unix epoch. */
  readonly oldestAt: number;
  readonly organizations: readonly string[];
}

/** What is known about the queue; times in ms since the Unix epoch. */
export interface QueueReading {
  /** The clock of Redis. */
  now: number;
  /** When the oldest job was added; undefined if there is none. */
  oldestAt: number | undefined;
  /** When ingest last took events; undefined if never. */
  admittingAt: number | undefined;
  /** Periods in which ingest may have rejected events. */
  gaps: readonly Gap[];
  /** Since when changes of Jobs have waited to be recorded; undefined if none wait. */
  uncapturedSince?: number | undefined;
  /** The organizations with more changes of Jobs than are recorded at once. */
  uncaptured?: Behind | undefined;
  /** Why events for this database wait outside of the queue; undefined if none do. */
  waiting?: string | undefined;
  /** The oldest job in the overflow lane, and whose events it holds; undefined if it is empty. */
  overflow?: Behind | undefined;
}

/** The clocks besides that of Redis, in ms since the Unix epoch. */
export interface Clocks {
  controller: number;
  postgres: number;
}

/** The time up to which the record is complete, or one sentence on why that is unknown. */
export type Watermark = { at: number; reason?: undefined } | { at?: undefined; reason: string };

/** The organizations whose events the watermark does not wait for. */
export function heldOf(queue: QueueReading): Held | undefined {
  const held = behindOf(queue).filter(({ oldestAt }) => isHeld(queue, oldestAt));
  if (held.length === 0) return undefined;
  return {
    organizations: [...new Set(held.flatMap(({ organizations }) => organizations))],
    until: Math.min(...held.map(({ oldestAt }) => oldestAt)) - marginMs,
  };
}

function behindOf({ overflow, uncaptured }: QueueReading): Behind[] {
  return [overflow, uncaptured].filter((behind) => behind !== undefined);
}

function isHeld({ now }: QueueReading, oldestAt: number): boolean {
  return oldestAt < now - behindMs;
}

/**
 * All events accepted before this time are in Postgres, provided that the queue was read before
 * Postgres. The organizations of {@link heldOf} are excepted.
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
  const waitedFor = behindOf(queue)
    .map((behind) => behind.oldestAt)
    .filter((at) => !isHeld(queue, at));
  return { at: Math.min(...all, admittingAt, oldestAt, uncapturedSince, ...waitedFor) - marginMs };
}

/** Why the watermark is far behind the clocks. */
export function reasonOfLag(queue: QueueReading): string {
  const { now, oldestAt = Infinity, admittingAt = -Infinity, uncapturedSince = Infinity } = queue;
  if (uncapturedSince < Math.min(oldestAt, admittingAt, now)) return 'Jobs of the cluster are not recorded yet.';
  if (oldestAt < Math.min(admittingAt, now)) return 'The workers have not stored the events in the queue.';
  return 'No ingest takes events.';
}
