import { hash } from 'node:crypto';

/** The length of a hash, in bytes. */
export const hashSize = 32;

/**
 * A hash as a text with one character per byte (Latin-1). Node makes it in a third of the CPU time
 * of a buffer.
 */
export type HashText = string;

/** A zero byte and room for a leaf. Reallocated when the length of leaves changes. */
let prefixed = Buffer.alloc(0);

/** A one byte and room for two hashes. */
const children = Buffer.alloc(1 + 2 * hashSize);
children[0] = 1;

/** The hash of a leaf (RFC 6962, section 2.1): SHA-256 of a zero byte and the leaf. */
export function hashLeaf(leaf: Buffer): Buffer {
  return hashOfText(leafHashText(leaf));
}

/** The same as a text, for the leaf between two offsets of a buffer. */
export function leafHashText(leaves: Buffer, from = 0, to = leaves.length): HashText {
  if (prefixed.length !== to - from + 1) prefixed = Buffer.alloc(to - from + 1);
  leaves.copy(prefixed, 1, from, to);
  return hash('sha256', prefixed, 'binary');
}

/** The hash of the node above two nodes (RFC 6962, section 2.1). */
export function hashChildren(left: Buffer, right: Buffer): Buffer {
  children.set(left, 1);
  children.set(right, 1 + hashSize);
  return sha256(children);
}

/** The same with texts. */
export function childrenHashText(left: HashText, right: HashText): HashText {
  children.write(left, 1, hashSize, 'latin1');
  children.write(right, 1 + hashSize, hashSize, 'latin1');
  return hash('sha256', children, 'binary');
}

/** The root of an empty tree: the hash of nothing. */
export function emptyRoot(): Buffer {
  return sha256(Buffer.alloc(0));
}

export function sha256(bytes: Uint8Array | string): Buffer {
  return hashOfText(sha256Text(bytes));
}

export function sha256Text(bytes: Uint8Array | string): HashText {
  return hash('sha256', bytes, 'binary');
}

/** The bytes of a hash. */
export function hashOfText(text: HashText): Buffer {
  return Buffer.from(text, 'latin1');
}
