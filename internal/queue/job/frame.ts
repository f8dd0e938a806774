/** The first bytes of a zstd frame. */
const magic = 0xfd2fb528;

/**
 * Returns the decompressed size that a zstd frame claims (RFC 8878, section 3.1.1.1). So the caller
 * can wait for that memory before it decompresses.
 * @throws when it is no frame, or does not state its size.
 */
export function contentSizeOf(frame: Buffer): number {
  if (frame.length < 6 || frame.readUInt32LE(0) !== magic) throw new Error('this is no frame of zstd');
  const descriptor = frame.readUInt8(4);
  const isSingleSegment = (descriptor & 0b10_0000) !== 0;
  const idSize = [0, 1, 2, 4][descriptor & 0b11] ?? 0;
  const place = 5 + (isSingleSegment ? 0 : 1) + idSize;
  switch (descriptor >> 6) {
    case 0:
      if (isSingleSegment) return frame.readUInt8(place);
      throw new Error('the frame does not say how large its content is');
    case 1:
      return frame.readUInt16LE(place) + 256;
    case 2:
      return frame.readUInt32LE(place);
    default:
      return Number(frame.readBigUInt64LE(place));
  }
}
