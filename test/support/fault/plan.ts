import type { Fault, FaultType } from './fault.ts';
import { ingestFaults } from './ingest-faults.ts';
import { jobFaults } from './job-faults.ts';
import { podFaults } from './pod-faults.ts';
import { postgresFaults } from './postgres-faults.ts';
import { Random } from './random.ts';
import { redisFaults } from './redis-faults.ts';

/** Every kind of fault, by name. */
export const faultTypes: Readonly<Record<string, FaultType>> = {
  ...podFaults,
  ...ingestFaults,
  ...redisFaults,
  ...jobFaults,
  ...postgresFaults,
};

/** One fault alone, or two that overlap. */
export type Episode = Fault[];

export interface PlanOptions {
  seed: number;
  /** Kinds to draw from; all unless given. */
  kinds?: readonly string[];
  /** Share of the episodes with two faults. */
  pairs?: number;
  /** Longest hold, in ms; a fault whose shortest is longer holds for that. */
  longestHold?: number;
}

/**
 * Episodes without end, the same for the same options. Every kind comes once before any comes
 * again.
 */
export function* planEpisodes({
  seed,
  kinds = Object.keys(faultTypes),
  pairs = 0.35,
  longestHold = Infinity,
}: PlanOptions): Generator<Episode, never> {
  const random = new Random(seed);
  let bag: string[] = [];
  const draw = (): Fault => {
    if (bag.length === 0) bag = random.shuffle(kinds);
    return drawFault(bag.pop() ?? '', random, longestHold);
  };
  for (;;) {
    const first = draw();
    const second = random.chance(pairs) ? draw() : undefined;
    if (second !== undefined && second.place !== first.place) yield [first, second];
    else for (const alone of [first, second]) if (alone !== undefined) yield [{ ...alone, afterMs: 0 }];
  }
}

/** The first `count` episodes of a plan, of those that are wanted. */
export function firstEpisodes(
  options: PlanOptions,
  count: number,
  wanted: (episode: Episode) => boolean = () => true,
): Episode[] {
  const episodes: Episode[] = [];
  for (const episode of planEpisodes(options)) {
    if (wanted(episode)) episodes.push(episode);
    if (episodes.length === count) break;
  }
  return episodes;
}

function drawFault(kind: string, random: Random, longestHold: number): Fault {
  const type = faultTypes[kind];
  if (type === undefined) throw new Error(`there is no fault named ${kind}`);
  const [min, max] = type.hold;
  return {
    kind,
    place: random.pick(type.places),
    afterMs: random.int(0, 1_500),
    holdMs: Math.max(min, Math.min(longestHold, Math.round(min + (max - min) * random.next() ** 3))),
    amount: random.next(),
  };
}

/** `redis killed (redis, 3.2 s) + pod frozen (worker-1, 12.0 s)` */
export function describeEpisode(episode: Episode): string {
  return episode.map(({ kind, place, holdMs }) => `${kind} (${place}, ${(holdMs / 1_000).toFixed(1)} s)`).join(' + ');
}
