import { Schedule, type ExpectedTimes } from './schedule.ts';
import { Zone } from './zone.ts';

/** Most schedules that are kept, about 2 KB each. */
const mostSchedules = 10_000;

/** Most times of a schedule that are kept. */
const mostTimes = 64;

/**
 * Schedules by text and time zone. Finding a time takes croner a tenth of a millisecond, and many
 * automations share a schedule, so that each keeps the times around the last question.
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

/** Keeps successive times of a schedule, without any between them. */
class KeptTimes implements ExpectedTimes {
  readonly zone: Zone;
  readonly #schedule: Schedule;
  #times: number[] = [];

  constructor(schedule: Schedule) {
    this.zone = schedule.zone;
    this.#schedule = schedule;
  }

  after(time: number): number | undefined {
    return this.#around(time)[1];
  }

  upTo(time: number): number | undefined {
    return this.#around(time)[0];
  }

  /** The last time at or before `time`, and the first after it. */
  #around(time: number): Pair {
    const known = this.#times;
    const next = known.findIndex((each) => each > time);
    if (next > 0) return [known[next - 1], known[next]];
    const pair = (next === -1 && this.#soonAfterKnown(time)) || [this.#schedule.upTo(time), this.#schedule.after(time)];
    this.#keep(pair);
    return pair;
  }

  /** The last kept time and the one after it, if that comes after `time`. */
  #soonAfterKnown(time: number): Pair | undefined {
    const last = this.#times.at(-1);
    if (last === undefined) return undefined;
    const after = this.#schedule.after(last);
    return after === undefined || after > time ? [last, after] : undefined;
  }

  #keep([before, after]: Pair): void {
    if (before === undefined || after === undefined) return;
    if (before === this.#times.at(-1)) this.#times = [...this.#times.slice(1 - mostTimes), after];
    else if (after === this.#times[0]) this.#times = [before, ...this.#times.slice(0, mostTimes - 1)];
    else this.#times = [before, after];
  }
}

type Pair = [number | undefined, number | undefined];
