/**
 * How a repeat is recognized within an organization: the way in, and what names the events there.
 * The parts stay apart, so no name can imitate one of another way in, or of other parts.
 */
export type RepeatKey = readonly [
  wayIn: 'caller' | 'cloud-event' | 'lineage' | 'ping' | 'job' | 'close',
  name: string,
  ...more: string[],
];

/**
 * True where Runledger derives the key from the ids of the events. Their texts may then change
 * between two attempts. Otherwise the caller chose the key, and bound it to one body.
 */
export function isDerived([wayIn]: RepeatKey): boolean {
  return wayIn !== 'caller' && wayIn !== 'cloud-event';
}
