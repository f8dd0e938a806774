import { digestOf } from '../event/digest.ts';
import type { AcceptedEvent } from '../event/event.ts';

/** The length of a digest, in characters. */
const size = 43;

/** The digests of events, one after the other. */
export function joinDigests(events: readonly AcceptedEvent[]): string {
  return events.map((event) => event.digest ?? digestOf(event)).join('');
}

/** Gives the digest of an event by its place. @throws when they are not those of so many events. */
export function splitDigests(joined: string, events: number): (at: number) => string {
  if (joined.length !== events * size) throw new Error(`${joined.length} characters are no ${events} digests`);
  return (at) => joined.slice(at * size, (at + 1) * size);
}
