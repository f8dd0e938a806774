import { Cron } from 'croner';
import type { Zone } from './zone.ts';

/** Longest change of a clock by daylight saving, in ms, with a reserve. */
const longestChangeMs = 10_800_000;

/** One sentence if the text is no schedule, or has no time; undefined if it is one. */
export function problemOfSchedule(text: string): string | undefined {
  try {
    return open(text, 'UTC').nextRun(new Date(0)) === null ? 'never has a time' : undefined;
  } catch (error) {
    const detail = error instanceof Error ? error.message.replace(/^\w+: /, '') : String(error);
    return `must be a cron expression of five fields, such as 30 2 * * 1-5: ${detail}`;
  }
}

function open(text: string, timeZone: string): Cron {
  return new Cron(text, { timezone: timeZone, mode: '5-part', paused: true });
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
 * expected; one that it repeats is expected once, the first time.
 */
export class Schedule implements ExpectedTimes {
  readonly zone: Zone;
  readonly #cron: Cron;

  /** @throws for a text that {@link problemOfSchedule} rejects. */
  constructor(text: string, zone: Zone) {
    this.zone = zone;
    this.#cron = open(text, zone.name);
  }

  after(time: number): number | undefined {
    let found = this.#cron.nextRun(new Date(time));
    while (found !== null && !this.#isExpected(found)) found = this.#cron.nextRun(found);
    return found?.getTime();
  }

  upTo(time: number): number | undefined {
    // croner looks before its argument, in whole seconds.
    let found = this.#cron.previousRuns(1, new Date(time + 1_000))[0];
    while (found !== undefined && (found.getTime() > time || !this.#isExpected(found))) {
      found = this.#cron.previousRuns(1, found)[0];
    }
    return found?.getTime();
  }

  /** croner moves a skipped time to the end of the gap, and repeats times of `*` and of steps. */
  #isExpected(found: Date): boolean {
    if (!this.#cron.match(found)) return false;
    const time = found.getTime();
    const before = this.zone.offset(time - longestChangeMs);
    const back = before - this.zone.offset(time);
    return back <= 0 || this.zone.offset(time - back) !== before;
  }
}
