import { eventDigest } from './event-digest.ts';
import type { HashText } from './hashing.ts';
import type { StoredEvent } from './stored-json.ts';

/** The length of a leaf, in bytes: its kind, an id, and a SHA-256. */
export const leafSize = 49;

/**
 * The first byte of a leaf. 2: an event (`event-digest.ts`). 3: an erasure (`erasure.ts`). 4: an
 * act (`act.ts`). A changed format gets a new byte; 1 was the first format of events.
 */
export const leafKinds = { event: 2, erasure: 3, act: 4 } as const;
export type LeafKind = keyof typeof leafKinds;

const kinds: ReadonlyMap<number, LeafKind> = new Map(
  Object.entries(leafKinds).map(([kind, byte]) => [byte, kind as LeafKind]),
);

/** The parts of a leaf. */
export interface Leaf {
  readonly kind: LeafKind;
  /** The id of the event, erasure or act, as a UUID. */
  readonly id: string;
  /** SHA-256 of what the leaf is about. */
  readonly digest: Buffer;
}

/** The leaf of an event as it is stored. */
export function leafOf(event: StoredEvent): Buffer {
  const leaf = Buffer.allocUnsafe(leafSize);
  writeLeaf(leaf, 0, event.id, eventDigest(event));
  return leaf;
}

/** Writes a leaf into a buffer. */
export function writeLeaf(into: Buffer, at: number, id: string, digest: HashText, kind: LeafKind = 'event'): void {
  into.write(digest, startLeaf(into, at, id, kind), 'latin1');
}

/** Writes the start of a leaf; returns the offset of its digest. */
export function startLeaf(into: Buffer, at: number, id: string, kind: LeafKind = 'event'): number {
  into[at] = leafKinds[kind];
  writeUuid(into, at + 1, id);
  return at + 17;
}

/**
 * Writes the bytes of an id. A copy without hyphens would take twice the CPU time, plus garbage
 * collection.
 */
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
  return leaf.length === leafSize && kinds.has(leaf[0] ?? 0);
}

/** True for the leaf of an event. */
export function isEvent(leaf: Buffer): boolean {
  return leaf[0] === leafKinds.event;
}

/** True if the leaf at an offset is that of an act. */
export function isAct(leaves: Uint8Array, at = 0): boolean {
  return leaves[at] === leafKinds.act;
}

/** Reads a leaf. @throws when it has another length or kind. */
export function readLeaf(leaf: Buffer): Leaf {
  if (leaf.length !== leafSize) throw new Error(`a leaf has ${leafSize} bytes, not ${leaf.length}`);
  const kind = kinds.get(leaf[0] ?? 0);
  if (kind === undefined) throw new Error(`no leaf has the kind ${leaf[0]}`);
  return { kind, id: uuidAt(leaf, 1), digest: leaf.subarray(17) };
}

/** The UUID whose 16 bytes are at an offset. */
export function uuidAt(bytes: Buffer, at = 0): string {
  const hex = bytes.toString('hex', at, at + 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Cuts bytes into leaves. @throws when the last one is not whole. */
export function splitLeaves(bytes: Buffer): Buffer[] {
  if (bytes.length % leafSize !== 0) throw new Error(`${bytes.length} bytes are no whole leaves`);
  return Array.from({ length: bytes.length / leafSize }, (_, at) => bytes.subarray(at * leafSize, (at + 1) * leafSize));
}

/** The time in an id (UUIDv7), in ms since the Unix epoch: when the event was accepted. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** The same for the id in a leaf. */
export function timeOfLeaf(leaf: Buffer): number {
  return leaf.readUIntBE(1, 6);
}
