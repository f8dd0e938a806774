import { sealLength, sealOf } from '../../event/digest.ts';
import type { AcceptedEvent } from '../../event/event.ts';

/** The seals of events, one after the other. */
export function joinSeals(events: readonly AcceptedEvent[]): string {
  return events.map((event) => event.seal ?? sealOf(event)).join('');
}

/** Gives the seal of an event by its place. @throws when they are not those of so many events. */
export function splitSeals(joined: string, events: number): (at: number) => string {
  if (joined.length !== events * sealLength) throw new Error(`${joined.length} characters are no ${events} seals`);
  return (at) => joined.slice(at * sealLength, (at + 1) * sealLength);
}
