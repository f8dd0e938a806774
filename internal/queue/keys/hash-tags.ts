/**
 * The hash tags of the shards inside one Redis, by shard. A Redis Cluster puts all keys with the
 * same tag into one slot. The first n tags spread evenly over two to six masters with equal ranges
 * of slots, for every n: masters differ by at most one shard. The chart has the same list. A tag
 * never changes, because events may be in its slot.
 */
export const hashTags: readonly string[] = [
  'runledger',
  'runledger-1ad',
  'runledger-2zk',
  'runledger-3qc',
  'runledger-4nu',
  'runledger-5ny',
  'runledger-6ti',
  'runledger-7rk',
  'runledger-8be',
  'runledger-9vl',
  'runledger-10kh',
  'runledger-11wa',
  'runledger-12cm',
  'runledger-13ha',
  'runledger-14fh',
  'runledger-15vp',
];

/** The number of slots in a Redis Cluster. */
export const slots = 16_384;

/** The slot of a hash tag: CRC16 (XMODEM), as the Redis Cluster specification defines it. */
export function slotOf(tag: string): number {
  let crc = 0;
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ (crc & 0x80_00 ? 0x10_21 : 0)) & 0xff_ff;
  }
  return crc % slots;
}
