const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** A time zone of the IANA database. */
export class Zone {
  readonly name: string;
  readonly #offset: Intl.DateTimeFormat;
  readonly #text: Intl.DateTimeFormat;
  readonly #exact: Intl.DateTimeFormat;

  /** @throws {RangeError} for an unknown name. */
  constructor(name: string) {
    this.name = name;
    this.#offset = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' });
    const minutes = {
      timeZone: name,
      day: 'numeric',
      month: 'long',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    } as const;
    this.#text = new Intl.DateTimeFormat('en-GB', minutes);
    this.#exact = new Intl.DateTimeFormat('en-GB', { ...minutes, second: '2-digit' });
  }

  /** The offset from UTC at a time, in ms. */
  offset(time: number): number {
    const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(this.#offset.format(time));
    const [, sign = '+', hours = '0', minutes = '0', seconds = '0'] = match ?? [];
    const ms = Number(hours) * hourMs + Number(minutes) * minuteMs + Number(seconds) * 1_000;
    return sign === '-' ? -ms : ms;
  }

  /** A time in words: `25 November 2026, 02:30 (Europe/Madrid)`; with seconds if `exact`. */
  describe(time: number, exact = false): string {
    return `${(exact ? this.#exact : this.#text).format(time).replace(' at ', ', ')} (${this.name})`;
  }

  /** The start and the end of a span in words; with seconds if both fall into the same minute. */
  describeSpan(from: number, until: number): [string, string] {
    const exact = until - from < minuteMs && this.describe(from) === this.describe(until);
    return [this.describe(from, exact), this.describe(until, exact)];
  }
}

/** True if the IANA database has this zone. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Zone(name).name === name;
  } catch {
    return false;
  }
}
