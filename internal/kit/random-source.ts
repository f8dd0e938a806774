import { randomFillSync } from 'node:crypto';

/** Portions drawn at once; a call for 16 bytes alone takes ten times as long. */
const portions = 256;

/** Returns `size` random bytes per call, in memory that is overwritten after 255 more calls. */
export function createRandomSource(size: number): () => Buffer {
  const pool = Buffer.alloc(portions * size);
  let used = pool.length;
  return () => {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    used += size;
    return pool.subarray(used - size, used);
  };
}
