import type { QueueClock } from './queue-clock.ts';

/** Longest time between the readings of two shards, in ms. */
const readingMs = 2_000;

/** Largest difference between the clocks of two shards, in ms. */
const clocksDifferMs = 60_000;

type Interval = QueueClock['gaps'][number];

/**
 * Joins the clocks of several shards into one: as old as the oldest job in any of them. Converts
 * times to the slowest Redis clock.
 * @throws while the clocks differ by more than a minute.
 */
export function joinClocks(read: readonly QueueClock[]): QueueClock {
  const [first] = read;
  if (first === undefined) throw new Error('the queue has no shard');
  if (read.length === 1) return { ...first, gaps: [...first.gaps, ...first.silences], silences: [] };
  const times = read.map(({ now }) => now);
  const difference = Math.max(...times) - Math.min(...times);
  if (difference > clocksDifferMs) {
    throw new Error(`The clocks of the shards differ by ${Math.round(difference / 1_000)} s.`);
  }
  const clocks = read.map((clock) => slower(clock, clock.now - Math.min(...times)));
  const admitted = defined(clocks.map(({ admittingAt }) => admittingAt));
  const overflows = defined(clocks.map(({ overflow }) => overflow));
  const oldest = defined(clocks.map(({ oldestAt }) => oldestAt));
  return {
    now: Math.min(...times),
    oldestAt: oldest.length === 0 ? undefined : Math.min(...oldest),
    admittingAt: admitted.length === 0 ? undefined : Math.max(...admitted),
    gaps: [...clocks.flatMap(({ gaps }) => gaps), ...commonSilences(clocks)],
    silences: [],
    overflow:
      overflows.length === 0
        ? undefined
        : {
            oldestAt: Math.min(...overflows.map(({ oldestAt }) => oldestAt)),
            organizations: [...new Set(overflows.flatMap(({ organizations }) => organizations))],
          },
  };
}

/**
 * Times in which no pod left a note in any shard. A shard is also silent since its last note, which
 * the pods may not have recorded yet.
 */
function commonSilences(clocks: readonly QueueClock[]): Interval[] {
  const ofEach = clocks.map(({ silences, admittingAt = 0 }) => [...silences, { from: admittingAt, until: Infinity }]);
  const common = ofEach.reduce((before, each) => before.flatMap((one) => each.flatMap((other) => overlap(one, other))));
  return common.filter(({ until }) => until !== Infinity);
}

function overlap(one: Interval, other: Interval): Interval[] {
  const [from, until] = [Math.max(one.from, other.from), Math.min(one.until, other.until)];
  return from < until ? [{ from, until }] : [];
}

function defined<T>(values: readonly (T | undefined)[]): T[] {
  return values.flatMap((value) => (value === undefined ? [] : [value]));
}

/** The clock as it would be if its Redis' time were `ms` earlier. */
function slower(clock: QueueClock, ms: number): QueueClock {
  const move = ({ from, until }: Interval): Interval => ({ from: from - ms, until: until - ms });
  const { now, admittingAt, gaps, silences } = clock;
  return {
    ...clock,
    now: now - ms,
    admittingAt: admittingAt === undefined ? undefined : admittingAt - ms,
    gaps: gaps.map(move),
    silences: silences.map(move).map(({ from, until }) => ({ from: from - readingMs, until: until + readingMs })),
  };
}
