import { Schedule, type ExpectedTimes } from './schedule.ts';
import { Zone } from './zone.ts';

/** Most schedules that are kept, about 2 KB each; more around a change of the clocks. */
const mostSchedules = 10_000;

/** Most pairs of times of a schedule that are kept. */
const mostPairs = 64;

/**
 * Schedules by text and time zone. Finding a time takes microseconds, a day with a change of the
 * clocks milliseconds, and many automations share a schedule, so each keeps times.
 */
export class Schedules {
  readonly #schedules = new Map<string, KeptTimes>();
  readonly #zones = new Map<string, Zone>();

  /** @throws for a schedule or a time zone that a declaration may not have. */
  get(text: string, timeZone: string): ExpectedTimes {
    const key = `${text} ${timeZone}`;
    const kept = this.#schedules.get(key) ?? new KeptTimes(new Schedule(text, this.zone(timeZone)));
    // The one that was used last comes last.
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

/** Two successive times; the first or the last one may be none. */
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
    // The oldest ones are asked for least.
    if (this.#pairs.length > mostPairs) this.#pairs.shift();
    return pair;
  }
}
