/**
 * Identifies a repeat within an organization: the way in, and what names the events there. The
 * parts stay separate, so no name can pass for one of another way in or with other parts.
 */
export type RepeatKey = readonly [
  wayIn: 'caller' | 'cloud-event' | 'lineage' | 'ping' | 'job' | 'close',
  name: string,
  ...more: string[],
];

/**
 * True if Runledger derives the key from the ids of the events, whose texts may then change between
 * attempts. Otherwise the caller chose the key, which is bound to one body.
 */
export function isDerived([wayIn]: RepeatKey): boolean {
  return wayIn !== 'caller' && wayIn !== 'cloud-event';
}
