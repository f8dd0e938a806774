import type { Random } from '../fault/random.ts';

/** The parts that may be unavailable, and the clocks that may step by five minutes. */
export const parts = ['ingest', 'redis', 'workers', 'postgres', 'controller'] as const;
export const clocks = ['ingest clock', 'controller clock', 'redis clock', 'postgres clock'] as const;
export type Part = (typeof parts)[number] | (typeof clocks)[number];

/** A time in which a part is unavailable, or its clock is wrong; in ms since the Unix epoch. */
export interface Outage {
  part: Part;
  from: number;
  until: number;
  /** By how much a clock is wrong, in ms. */
  stepMs: number;
}

const minuteMs = 60_000;

/** Random outages from half a minute to an hour, with rests between those of one part. */
export function planOutages(random: Random, from: number, until: number): Outage[] {
  return [...parts, ...clocks].flatMap((part) => {
    const outages: Outage[] = [];
    let time = from + random.int(10, 300) * minuteMs;
    while (time < until - 180 * minuteMs) {
      const lasts = random.chance(0.8) ? random.int(1, 30) * 30_000 : random.int(15, 60) * minuteMs;
      outages.push({ part, from: time, until: time + lasts, stepMs: random.pick([-5, 5]) * minuteMs });
      time += lasts + random.int(60, 600) * minuteMs;
    }
    return outages;
  });
}
