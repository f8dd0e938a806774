import { Cron } from 'croner';

const hourMs = 3_600_000;

/** Longest change of a clock by daylight saving, in ms, with a reserve. */
const longestChangeMs = 3 * hourMs;

/** True for a name of the IANA database. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** One sentence if the text is no schedule, or has no time; undefined if it is one. */
export function problemOfSchedule(text: string, timeZone: string): string | undefined {
  try {
    const cron = open(text, timeZone);
    return cron.nextRun(new Date(0)) === null ? 'never has a time' : undefined;
  } catch (error) {
    const detail = error instanceof Error ? error.message.replace(/^\w+: /, '') : String(error);
    return `must be a cron expression of five fields, such as 30 2 * * 1-5: ${detail}`;
  }
}

function open(text: string, timeZone: string): Cron {
  return new Cron(text, { timezone: timeZone, mode: '5-part', paused: true });
}

/**
 * The expected times of a cron expression in a time zone, in ms since the Unix epoch. A time that
 * daylight saving skips is not expected; one that it repeats is expected once, the first time.
 */
export class Schedule {
  readonly #cron: Cron;
  readonly #clock: Intl.DateTimeFormat;

  /** @throws for a text that {@link problemOfSchedule} rejects. */
  constructor(text: string, timeZone: string) {
    this.#cron = open(text, timeZone);
    this.#clock = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  }

  /** The first expected time after `time`; undefined if there is none. */
  after(time: number): number | undefined {
    let found = this.#cron.nextRun(new Date(time));
    while (found !== null && !this.#isExpected(found)) found = this.#cron.nextRun(found);
    return found?.getTime();
  }

  /** The last expected time at or before `time`; undefined if there is none. */
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
    const before = this.#offset(time - longestChangeMs);
    const back = before - this.#offset(time);
    return back <= 0 || this.#offset(time - back) !== before;
  }

  /** The offset of the zone from UTC, in ms. */
  #offset(time: number): number {
    const text = this.#clock.format(time);
    const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text);
    const [, sign = '+', hours = '0', minutes = '0', seconds = '0'] = match ?? [];
    const ms = Number(hours) * hourMs + Number(minutes) * 60_000 + Number(seconds) * 1_000;
    return sign === '-' ? -ms : ms;
  }
}
