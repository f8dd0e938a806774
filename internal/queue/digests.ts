import { digestOf } from '../event/digest.ts';
import type { AcceptedEvent } from '../event/event.ts';

/** The length of a digest, in bytes. */
const size = 32;

/** The digests of events, one after the other, in base64. */
export function joinDigests(events: readonly AcceptedEvent[]): string {
  const digests = events.map((event) => event.digest ?? digestOf(event));
  return Buffer.from(digests.join(''), 'latin1').toString('base64');
}

/** Gives the digest of an event by its place. @throws when they are not those of so many events. */
export function splitDigests(joined: string, events: number): (at: number) => string {
  const text = Buffer.from(joined, 'base64').toString('latin1');
  if (text.length !== events * size) throw new Error(`${text.length} bytes are not the digests of ${events} events`);
  return (at) => text.slice(at * size, (at + 1) * size);
}
