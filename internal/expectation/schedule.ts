import { CronProblem, readCron, type CalendarDay, type Cron } from './cron.ts';
import type { Zone } from './zone.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** The next leap day may be eight years ahead (2096 to 2104). */
const furthestDays = 8 * 366 + 1;

/** A sentence on why the text is no schedule or has no times; undefined if it is valid. */
export function problemOfSchedule(text: string): string | undefined {
  try {
    const cron = readCron(text);
    const first = dayOf(Date.UTC(2023, 0, 1));
    return daysFrom(first, 1, (day) => (cron.isOn(day) ? [0] : [])) === undefined ? 'never has a time' : undefined;
  } catch (error) {
    if (!(error instanceof CronProblem)) throw error;
    return `must be a cron expression of five fields, such as 30 2 * * 1-5: ${error.message}`;
  }
}

/** Expected times, in ms since the Unix epoch. */
export interface ExpectedTimes {
  readonly zone: Zone;
  /** The first expected time after `time`; undefined if there is none. */
  after(time: number): number | undefined;
  /** The last expected time at or before `time`; undefined if there is none. */
  upTo(time: number): number | undefined;
}

/**
 * The expected times of a cron expression in a time zone. A time that daylight saving skips is not
 * expected. A repeated time is expected twice if the expression has every hour, or `*` with a step,
 * because such runs follow elapsed time. With fixed hours it is expected once, the first time.
 */
export class Schedule implements ExpectedTimes {
  readonly zone: Zone;
  readonly #cron: Cron;
  /** The times of a few days: they are expensive to compute where the clocks change. */
  readonly #days = new Map<string, readonly number[]>();

  /** @throws {CronProblem} if the text is no schedule. */
  constructor(text: string, zone: Zone) {
    this.zone = zone;
    this.#cron = readCron(text);
  }

  after(time: number): number | undefined {
    return daysFrom(this.#dayBefore(time), 1, (day) => this.#timesOf(day).filter((at) => at > time))?.[0];
  }

  upTo(time: number): number | undefined {
    const dayAfter = dayOf(time + this.zone.offset(time) + dayMs);
    return daysFrom(dayAfter, -1, (day) => this.#timesOf(day).filter((at) => at <= time))?.at(-1);
  }

  /** A day that is over, or nearly over: the clocks may go back past midnight. */
  #dayBefore(time: number): CalendarDay {
    return dayOf(time + this.zone.offset(time) - 3 * hourMs);
  }

  #timesOf(day: CalendarDay): readonly number[] {
    if (!this.#cron.isOn(day)) return [];
    const key = `${day.year}-${day.month}-${day.day}`;
    const known = this.#days.get(key);
    if (known !== undefined) return known;
    const times = this.#findTimes(Date.UTC(day.year, day.month - 1, day.day));
    this.#days.set(key, times);
    const [oldest] = this.#days.keys();
    if (this.#days.size > 4 && oldest !== undefined) this.#days.delete(oldest);
    return times;
  }

  /** `midnight` is the start of the day, as if the zone were UTC. */
  #findTimes(midnight: number): number[] {
    const { hours, minutes, everyHour } = this.#cron;
    const locals = hours.flatMap((hour) => minutes.map((minute) => midnight + hour * hourMs + minute * minuteMs));
    const offsets = [this.zone.offset(midnight - dayMs), this.zone.offset(midnight + 2 * dayMs)];
    const [before = 0, after = 0] = offsets;
    if (before === after && this.zone.offset(midnight + dayMs / 2) === before) return locals.map((at) => at - before);
    const found = locals.flatMap((local) => {
      const times = [...new Set([...offsets, this.zone.offset(midnight + dayMs / 2)].map((offset) => local - offset))]
        .filter((at) => at + this.zone.offset(at) === local)
        .toSorted((a, b) => a - b);
      return everyHour ? times : times.slice(0, 1);
    });
    return found.toSorted((a, b) => a - b);
  }
}

/** The first non-empty result of a day and the days after or before it. */
function daysFrom(
  { year, month, day }: CalendarDay,
  step: 1 | -1,
  timesOf: (day: CalendarDay) => readonly number[],
): readonly number[] | undefined {
  for (let index = 0; index <= furthestDays; index += 1) {
    const times = timesOf(dayOf(Date.UTC(year, month - 1, day + step * index)));
    if (times.length > 0) return times;
  }
  return undefined;
}

function dayOf(local: number): CalendarDay {
  const date = new Date(local);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}
