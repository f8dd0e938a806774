import { inflateRawSync } from 'node:zlib';

const endOfDirectory = 0x06054b50;
const directoryEntry = 0x02014b50;

/**
 * The content of one file of a ZIP archive (APPNOTE.TXT 4.3), stored or deflated. Throws when it is
 * not there.
 */
export function unzip(zip: Buffer, name: string): Buffer {
  const end = zip.lastIndexOf(littleEndian(endOfDirectory));
  if (end < 0) throw new Error('not a ZIP archive');
  let at = zip.readUInt32LE(end + 16);
  while (zip.readUInt32LE(at) === directoryEntry) {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset));
    const found = zip.toString('utf8', at + 46, at + 46 + (nameLength ?? 0));
    if (found === name) return contentOf(zip, at);
    at += 46 + (nameLength ?? 0) + (extraLength ?? 0) + (commentLength ?? 0);
  }
  throw new Error(`the archive has no ${name}`);
}

function contentOf(zip: Buffer, entry: number): Buffer {
  const method = zip.readUInt16LE(entry + 10);
  const size = zip.readUInt32LE(entry + 20);
  const local = zip.readUInt32LE(entry + 42);
  const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const data = zip.subarray(start, start + size);
  return method === 0 ? data : inflateRawSync(data);
}

function littleEndian(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
}
