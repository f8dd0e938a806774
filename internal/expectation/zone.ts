const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** A time zone of the IANA database. */
export class Zone {
  readonly name: string;
  readonly #offset: Intl.DateTimeFormat;
  readonly #text: Intl.DateTimeFormat;

  /** @throws {RangeError} for an unknown name. */
  constructor(name: string) {
    this.name = name;
    this.#offset = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' });
    this.#text = new Intl.DateTimeFormat('en-GB', {
      timeZone: name,
      day: 'numeric',
      month: 'long',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
  }

  /** The offset from UTC at a time, in ms. */
  offset(time: number): number {
    const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(this.#offset.format(time));
    const [, sign = '+', hours = '0', minutes = '0', seconds = '0'] = match ?? [];
    const ms = Number(hours) * hourMs + Number(minutes) * minuteMs + Number(seconds) * 1_000;
    return sign === '-' ? -ms : ms;
  }

  /** A time for people: `25 November 2026, 02:30 (Europe/Madrid)`. */
  describe(time: number): string {
    return `${this.#text.format(time).replace(' at ', ', ')} (${this.name})`;
  }
}

/** True for a name of the IANA database. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Zone(name).name === name;
  } catch {
    return false;
  }
}
