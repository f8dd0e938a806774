import { mayHaveOccurred, timeOf } from './occurred-at.ts';

/** ISO 8601 as other programs write it: a space for the `T`, an offset without a colon, or none. */
const form = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:[.,](\d+))?(?:([Zz])|([+-]\d\d):?(\d\d)?)?$/;

/** A time in a message that another program wrote for its own purposes. */
export interface ForeignTime {
  /** The instant in RFC 3339 and UTC, with the given precision; equal for equal instants. */
  readonly instant: string;
  /** The `occurred_at` to record; null if it is out of bounds, so the time of acceptance counts. */
  readonly occurredAt: string | null;
}

/**
 * Parses a time, in UTC unless it has an offset; undefined for any other text. A time outside the
 * limits of `occurred_at` must not reject the event, since nobody can correct it.
 */
export function foreignTime(text: string, now = Date.now()): ForeignTime | undefined {
  const [, date, time, fraction = '', , hours, minutes = '00'] = form.exec(text) ?? [];
  const offset = hours === undefined ? 'Z' : `${hours}:${minutes}`;
  const seconds = timeOf(`${date}T${time}${offset}`);
  if (seconds === undefined) return undefined;
  const exact = fraction.replace(/0+$/, '');
  const instant = `${new Date(seconds).toISOString().slice(0, 19)}${exact && `.${exact}`}Z`;
  return { instant, occurredAt: mayHaveOccurred(timeOf(instant) ?? seconds, now) ? instant : null };
}
