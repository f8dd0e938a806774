import { createHash } from 'node:crypto';

/** The namespace for names that are URLs (RFC 9562, section 6.6). */
export const urlNamespace = '6ba7b811-9dad-11d1-80b4-00c04fd430c8';

/** The UUID of a name in a namespace, which is itself a UUID (RFC 9562, section 5.5). */
export function uuid5(namespace: string, name: string): string {
  const bytes = createHash('sha1').update(namespace.replaceAll('-', ''), 'hex').update(name, 'utf8').digest();
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const parts = [bytes.subarray(0, 4), bytes.subarray(4, 6), bytes.subarray(6, 8), bytes.subarray(8, 10)];
  return [...parts, bytes.subarray(10, 16)].map((part) => part.toString('hex')).join('-');
}
