/** Events that arrive in each second. */
export type Trace = number[];

/** From 0 to 1, as Math.random. */
export type Random = () => number;

const hour = 3_600;
const day = 24 * hour;

/** The traces that the paper replays, for a mean of `rate` events/s. */
export const traces: Record<string, (rate: number, random: Random) => Trace> = {
  'a steady hour': (rate, random) => arrivals(hour, () => rate, random),
  'ten minutes of ten times as much, and two hours': (rate, random) =>
    arrivals(3 * hour, (second) => (second >= hour && second < hour + 600 ? 10 * rate : rate), random),
  'a day in which half of all runs begin on the hour': (rate, random) =>
    arrivals(day, (second) => (second % hour < 300 ? 6 * rate + rate / 2 : rate / 2), random),
  'a day of office hours, with the runs of each full hour': (rate, random) =>
    arrivals(day, (second) => rate * ofOfficeHours(second) * (second % hour < 300 ? 4 : 0.73), random),
};

/** From 0.4 at night to 1.6 in the afternoon; the mean is 1. */
function ofOfficeHours(second: number): number {
  return 1 - 0.6 * Math.cos((2 * Math.PI * (second - 2 * hour)) / day);
}

/** Whole events around a mean, as many callers that know nothing of each other send them. */
function arrivals(seconds: number, mean: (second: number) => number, random: Random): Trace {
  return Array.from({ length: seconds }, (_, second) => around(mean(second), random));
}

/** A normal distribution is close to Poisson's above ten events. */
function around(mean: number, random: Random): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal));
}

/** Numbers that are the same in each run (mulberry32), so that the paper is. */
export function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
