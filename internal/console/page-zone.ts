import type { Context } from '../intake/http/page-route.ts';
import { isTimeZone, Zone } from '../expectation/zone.ts';

const minuteMs = 60_000;

/** A time as {@link Zone.describe} writes it in sentences: date, time of day and zone. */
const told = /(\d{1,2} [A-Z][a-z]+ \d{4}), (\d\d:\d\d(?::\d\d)?) \(([A-Za-z][\w/+-]{0,80})\)/g;

/** Maximum number of zones kept. */
const mostZones = 100;

/** The one time zone of a page: every time on it is in this zone. */
export class PageZone {
  readonly name: string;
  readonly #zone: Zone;
  /** The zones of declarations, by name. */
  readonly #others = new Map<string, Zone>();

  /** @throws {RangeError} for an unknown name. */
  constructor(name: string) {
    this.name = name;
    this.#zone = new Zone(name);
  }

  /** Such as `2026-01-31 08:00 UTC`, or `2026-01-31 09:00 +01:00`. */
  minute(time: number): string {
    return `${this.#local(time).slice(0, 16)} ${this.#offsetText(time)}`;
  }

  /** As {@link minute}, with seconds. */
  second(time: number): string {
    return `${this.#local(time).slice(0, 19)} ${this.#offsetText(time)}`;
  }

  /** Rewrites a sentence of a verdict, whose times are in the zone of the declaration. */
  sentence(text: string): string {
    return text.replaceAll(told, (whole, date: string, clock: string, name: string) => {
      const asUtc = Date.parse(`${date} ${clock} UTC`);
      if (Number.isNaN(asUtc) || !isTimeZone(name)) return whole;
      const other = this.#other(name);
      return this.#zone.describe(asUtc - other.offset(asUtc - other.offset(asUtc)), clock.length > 5);
    });
  }

  #other(name: string): Zone {
    const zone = this.#others.get(name) ?? new Zone(name);
    if (this.#others.size < mostZones) this.#others.set(name, zone);
    return zone;
  }

  /** The offset from UTC, in ms. */
  offsetOf(time: number): number {
    return this.#zone.offset(time);
  }

  /** The date, such as `2026-01-31`. */
  date(time: number): string {
    return this.#local(time).slice(0, 10);
  }

  /** The fraction of the day that has passed on the zone's clock. */
  shareOfDay(time: number): number {
    const [hours, minutes] = this.#local(time).slice(11, 16).split(':').map(Number);
    return ((hours ?? 0) * 60 + (minutes ?? 0)) / 1_440;
  }

  /** The first moment of a date, even if its midnight is skipped. */
  startOf(date: string): number {
    return this.momentOf(`${date}T00:00`);
  }

  /** The value of a `datetime-local` field. */
  field(time: number): string {
    return this.#local(time).slice(0, 16).replace(' ', 'T');
  }

  /**
   * The moment of such a value: the first one in a repeated hour, a later one in a skipped hour.
   */
  momentOf(field: string): number {
    const asUtc = Date.parse(`${field}:00Z`);
    const offsets = [asUtc - 24 * 60 * minuteMs, asUtc + 24 * 60 * minuteMs].map((time) => this.#zone.offset(time));
    const candidates = offsets.map((offset) => asUtc - offset);
    return candidates.find((time) => this.field(time) === field) ?? Math.max(...candidates);
  }

  /** `2026-01-31 09:00:00.000` by the clock of the zone. */
  #local(time: number): string {
    return new Date(time + this.#zone.offset(time)).toISOString().slice(0, 23).replace('T', ' ');
  }

  #offsetText(time: number): string {
    if (this.name === 'UTC') return 'UTC';
    const minutes = Math.round(this.#zone.offset(time) / minuteMs);
    const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
    return `${minutes < 0 ? '−' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
  }
}

/** The zones that browsers have chosen. A script on each page keeps the choice in a cookie. */
export class PageZones {
  readonly #zones = new Map<string, PageZone>();

  /** The zone of a request; UTC until its browser has chosen one. */
  of(ctx: Context): PageZone {
    const name = /(?:^|;\s*)zone=([\w/+-]{1,80})/.exec(ctx.get('Cookie'))?.[1] ?? 'UTC';
    const known = this.#zones.get(name);
    if (known !== undefined) return known;
    const zone = new PageZone(isTimeZone(name) ? name : 'UTC');
    if (this.#zones.size < mostZones) this.#zones.set(name, zone);
    return zone;
  }
}
