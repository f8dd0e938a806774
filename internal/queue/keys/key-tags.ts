import { crc32 } from 'node:zlib';
import { slotOf, slots } from './hash-tags.ts';

/** Ranges of slots, of equal size. */
const ranges = 32;

/**
 * A hash tag in each range of slots, by range. So keys with these tags spread evenly over the
 * masters of a Redis Cluster. A tag never changes, because keys may be in its slot.
 */
export const keyTags: readonly string[] = tagsByRange();

/** The range of a key. */
export function rangeOf(key: string): number {
  return crc32(key) % ranges;
}

/** The range half of all slots away: of two masters or more, another one has it. */
export function oppositeOf(range: number): number {
  return (range + ranges / 2) % ranges;
}

/** Numbers are tried in order: in each release the first one in a range is the same. */
function tagsByRange(): string[] {
  const tags = new Map<number, string>();
  for (let number = 0; tags.size < ranges; number += 1) {
    const tag = `runledger-key-${number}`;
    const range = Math.floor((slotOf(tag) * ranges) / slots);
    if (!tags.has(range)) tags.set(range, tag);
  }
  return Array.from({ length: ranges }, (_, range) => tags.get(range) ?? '');
}
