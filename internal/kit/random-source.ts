import { randomFillSync } from 'node:crypto';

/** Portions that are drawn at once: to ask for 16 bytes takes ten times as long. */
const portions = 256;

/** Gives `size` random bytes at a time, in memory that it overwrites after 255 more calls. */
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
