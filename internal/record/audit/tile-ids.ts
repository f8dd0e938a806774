import { leafSize, uuidAt } from '../../ledger/leaf.ts';

/** No UUID is higher. */
export const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The whole leaves in bytes that somebody may have lengthened or cut. */
export function wholeLeaves(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes).subarray(0, bytes.length - (bytes.length % leafSize));
}

/** The lowest and the highest id of the leaves of a tile, as UUIDs. */
export function idsOfTile(content: Uint8Array): { first: string; last: string } {
  const leaves = wholeLeaves(content);
  if (leaves.length === 0) return { first: highestId, last: highestId };
  const compare = (a: number, b: number): number => leaves.compare(leaves, b + 1, b + 17, a + 1, a + 17);
  let [first, last] = [0, 0];
  for (let at = leafSize; at < leaves.length; at += leafSize) {
    if (compare(first, at) > 0) first = at;
    if (compare(last, at) < 0) last = at;
  }
  return { first: uuidAt(leaves, first + 1), last: uuidAt(leaves, last + 1) };
}
