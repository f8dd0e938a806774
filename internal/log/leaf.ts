import { sha256Base64 } from './hashing.ts';
import { storedJson, type StoredEvent } from './stored-json.ts';

/** The length of a leaf, in bytes: a version, the id of the event, and its SHA-256. */
export const leafSize = 49;

/** The version of the leaf of an event. */
const leafVersion = 1;

/** The version of the leaf of an erasure (erasure.ts). */
export const erasureVersion = 2;

/** A leaf, read. */
export interface Leaf {
  /** The id of the event or of the erasure, as a UUID. */
  readonly id: string;
  /** SHA-256 of the event as stored, in canonical JSON. */
  readonly digest: Buffer;
}

/** The leaf of an event as it is stored. */
export function leafOf(event: StoredEvent): Buffer {
  const leaf = Buffer.allocUnsafe(leafSize);
  writeLeaf(leaf, 0, event.id, sha256Base64(storedJson(event)));
  return leaf;
}

/**
 * Writes a leaf into a buffer: of the id of an event, and the SHA-256 of its canonical JSON in
 * base64url.
 */
export function writeLeaf(into: Buffer, at: number, id: string, digest: string): void {
  into[at] = leafVersion;
  writeUuid(into, at + 1, id);
  into.write(digest, at + 17, 32, 'base64url');
}

/** A copy of the id without its hyphens takes twice the CPU time, and must be collected. */
function writeUuid(into: Buffer, at: number, id: string): void {
  for (let byte = 0, digit = 0; byte < 16; byte += 1, digit += 2) {
    if (byte === 4 || byte === 6 || byte === 8 || byte === 10) digit += 1;
    into[at + byte] = (hexDigit(id, digit) << 4) | hexDigit(id, digit + 1);
  }
}

/** The value of 0 to 9, a to f or A to F; 0 after the end of the text. */
function hexDigit(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return (code & 15) + (code > 57 ? 9 : 0);
}

/** True if {@link readLeaf} can read it. */
export function isLeaf(leaf: Buffer): boolean {
  return leaf.length === leafSize && (leaf[0] === leafVersion || leaf[0] === erasureVersion);
}

/** Reads a leaf of an event, or of an erasure. @throws when it has another length or version. */
export function readLeaf(leaf: Buffer): Leaf {
  if (leaf.length !== leafSize) throw new Error(`a leaf has ${leafSize} bytes, not ${leaf.length}`);
  const [version] = leaf;
  if (version !== leafVersion && version !== erasureVersion) {
    throw new Error(`the version of a leaf is ${leafVersion} or ${erasureVersion}, not ${version}`);
  }
  const hex = leaf.toString('hex', 1, 17);
  const id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  return { id, digest: leaf.subarray(17) };
}

/** Cuts bytes into leaves. @throws when the last one is not whole. */
export function splitLeaves(bytes: Buffer): Buffer[] {
  if (bytes.length % leafSize !== 0) throw new Error(`${bytes.length} bytes are no whole leaves`);
  return Array.from({ length: bytes.length / leafSize }, (_, at) => bytes.subarray(at * leafSize, (at + 1) * leafSize));
}

/** The time in the id of an event (UUIDv7), in ms since the Unix epoch: when it was accepted. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** The same of the id in a leaf. */
export function timeOfLeaf(leaf: Buffer): number {
  return leaf.readUIntBE(1, 6);
}
