import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import { compress } from '@cloudpss/zstd';

/**
 * Shrinks an event of 310 bytes to 60–120. Higher levels cost ingest more than they save in Redis.
 */
const level = 1;

/**
 * Returns the text as a zstd frame in base64. It compresses on the calling thread, which is faster
 * than another thread. Buffers of Node's `zstdCompressSync` would stay in memory until a full
 * garbage collection.
 */
export function pack(text: string): string {
  const { buffer, byteOffset, byteLength } = compress(Buffer.from(text), level);
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

const compressElsewhere = promisify(zstdCompress);

/** As {@link pack}, on another thread: it leaves this one free, and its buffers are few. */
export async function packLarge(text: Buffer): Promise<string> {
  const params = { [constants.ZSTD_c_compressionLevel]: level };
  // So the frame says how large its content is.
  const frame = await compressElsewhere(text, { params, pledgedSrcSize: text.length });
  return frame.toString('base64');
}
