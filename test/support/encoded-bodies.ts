import { constants, gzipSync, zstdCompressSync } from 'node:zlib';

/** How a body may be sent: the value of Content-Encoding, and what makes the bytes. */
export const encodings = [
  { name: undefined, encode: (bytes: Buffer): Buffer => bytes },
  { name: 'gzip', encode: (bytes: Buffer): Buffer => gzipSync(bytes) },
  {
    name: 'zstd',
    encode: (bytes: Buffer): Buffer => zstdCompressSync(bytes, { params: { [constants.ZSTD_c_checksumFlag]: 1 } }),
  },
] as const;

/** Most bytes that a block of a zstd frame becomes. */
const blockBytes = 131_072;

/** A zstd frame of so many bytes, which are all white space: four bytes become 128 KiB. */
export function zstdBomb(bytes: number): Buffer {
  // RFC 8878, section 3.1.1: the magic number, no flags, a window of 2 MiB.
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]);
  const length = Math.ceil(bytes / blockBytes);
  return Buffer.concat([head, ...Array.from({ length }, (_, index) => runOf(index === length - 1))]);
}

/** A block that repeats one byte. */
function runOf(isLast: boolean): Buffer {
  const block = Buffer.alloc(4, ' ');
  block.writeUIntLE((blockBytes << 3) | (1 << 1) | (isLast ? 1 : 0), 0, 3);
  return block;
}

/** The same bytes in pieces of these lengths, in turn. */
export function inPieces(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let from = 0; from < bytes.length;) {
    const length = lengths[pieces.length % lengths.length] ?? bytes.length;
    pieces.push(bytes.subarray(from, from + length));
    from += length;
  }
  return pieces;
}
