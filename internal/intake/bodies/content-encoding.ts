import type { IncomingHttpHeaders } from 'node:http';
import { constants, createGunzip, createZstdDecompress, type Gunzip, type ZstdDecompress } from 'node:zlib';
import { RequestError } from '../../kit/errors/request-error.ts';

/** How a body is encoded. */
export interface Encoding {
  readonly name: 'gzip' | 'zstd';
  /** The first byte of an encoded body. */
  readonly firstByte: number;
  /** Most bytes of its own output that a stream holds. */
  readonly window: number;
  /** Creates a stream that decodes off the event loop. */
  createStream(): Gunzip | ZstdDecompress;
}

/** Largest window of a zstd body, as a power of two: 8 MiB (RFC 9659). */
const windowLog = 23;

const gzip: Encoding = { name: 'gzip', firstByte: 0x1f, window: 32_768, createStream: () => createGunzip() };
const zstd: Encoding = {
  name: 'zstd',
  firstByte: 0x28,
  window: 2 ** windowLog,
  createStream: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: windowLog } }),
};
const encodings = new Map([
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['zstd', zstd],
]);

/**
 * The encoding of a body; undefined if it is sent as it is.
 * @throws {RequestError} 415 for several encodings or an unknown one.
 */
export function encodingOf({ 'content-encoding': header }: IncomingHttpHeaders): Encoding | undefined {
  if (header === undefined) return undefined;
  const named = header.split(',').map((one) => one.trim().toLowerCase());
  const [name = 'identity', ...more] = named.filter((one) => one !== '');
  if (name === 'identity' && more.length === 0) return undefined;
  const encoding = encodings.get(name);
  if (encoding === undefined || more.length > 0) throw notTaken();
  return encoding;
}

/** Most bytes that the decoder of a body holds. */
export function windowOf(encoding: Encoding | undefined): number {
  return encoding?.window ?? 0;
}

/** Most bytes that an encoded body may have, if up to `limit` bytes may come out of it. */
export function encodedLimit(limit: number): number {
  return Math.ceil(limit * 1.02) + 1_024;
}

function notTaken(): RequestError {
  const detail = 'Content-Encoding must be gzip or zstd, and only one of them, or absent.';
  // RFC 9110, section 12.5.3.
  return new RequestError('unsupported-media-type', detail, [], undefined, { 'Accept-Encoding': 'gzip, zstd' });
}
