import { compress } from '@cloudpss/zstd';

/** Shrinks 310 bytes an event to 60–120; higher levels cost ingest more than they save Redis. */
const level = 1;

/**
 * A text as a zstd frame in base64, made at once on the thread that asks: handing it to another one
 * takes longer, as the event loop sleeps meanwhile (test/bench/README.md). Node compresses at once
 * too, but what `zstdCompressSync` leaves stays in memory until a full garbage collection.
 */
export function pack(text: string): string {
  const { buffer, byteOffset, byteLength } = compress(Buffer.from(text), level);
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}
