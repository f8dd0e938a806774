import { Schedule, type ExpectedTimes } from './schedule.ts';
import { Zone } from './zone.ts';

/** Maximum number of schedules kept, at about 2 KB each; more around a change of the clocks. */
const mostSchedules = 10_000;

/** Maximum number of pairs of times kept per schedule. */
const mostPairs = 64;

/**
 * A cache of schedules by text and time zone. Many automations share a schedule, so each keeps its
 * times: finding one takes microseconds, or milliseconds on a day when the clocks change.
 */
export class Schedules {
  readonly #schedules = new Map<string, KeptTimes>();
  readonly #zones = new Map<string, Zone>();

  /** @throws if a declaration may not have this schedule or time zone. */
  get(text: string, timeZone: string): ExpectedTimes {
    const key = `${text} ${timeZone}`;
    const kept = this.#schedules.get(key) ?? new KeptTimes(new Schedule(text, this.zone(timeZone)));
    // The most recently used one comes last.
    this.#schedules.delete(key);
    this.#schedules.set(key, kept);
    if (this.#schedules.size > mostSchedules) {
      const [oldest] = this.#schedules.keys();
      if (oldest !== undefined) this.#schedules.delete(oldest);
    }
    return kept;
  }

  /** @throws {RangeError} for an unknown name. */
  zone(name: string): Zone {
    const zone = this.#zones.get(name) ?? new Zone(name);
    this.#zones.set(name, zone);
    return zone;
  }
}

/** Two successive times; either may be absent at the ends. */
interface Pair {
  before: number | undefined;
  after: number | undefined;
}

/** Keeps pairs of successive times, in order. */
class KeptTimes implements ExpectedTimes {
  readonly zone: Zone;
  readonly #schedule: Schedule;
  readonly #pairs: Pair[] = [];

  constructor(schedule: Schedule) {
    this.zone = schedule.zone;
    this.#schedule = schedule;
  }

  after(time: number): number | undefined {
    return this.#around(time).after;
  }

  upTo(time: number): number | undefined {
    return this.#around(time).before;
  }

  /** The last time at or before `time`, and the first after it. */
  #around(time: number): Pair {
    const index = this.#pairs.findLastIndex(({ before = -Infinity }) => before <= time);
    const known = this.#pairs[index];
    if (known !== undefined && time < (known.after ?? Infinity)) return known;
    const pair = { before: this.#schedule.upTo(time), after: this.#schedule.after(time) };
    this.#pairs.splice(index + 1, 0, pair);
    // The oldest pairs are needed least.
    if (this.#pairs.length > mostPairs) this.#pairs.shift();
    return pair;
  }
}
