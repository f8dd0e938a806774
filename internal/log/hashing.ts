import { hash } from 'node:crypto';

/** The length of a hash, in bytes. */
export const hashSize = 32;

/** A zero byte and room for a leaf: all leaves of a log have one length. */
let prefixed = Buffer.alloc(0);

const children = Buffer.alloc(1 + 2 * hashSize);
children[0] = 1;

/** The hash of a leaf (RFC 6962, section 2.1): SHA-256 of a zero byte and the leaf. */
export function hashLeaf(leaf: Uint8Array): Buffer {
  if (prefixed.length !== leaf.length + 1) prefixed = Buffer.alloc(leaf.length + 1);
  prefixed.set(leaf, 1);
  return sha256(prefixed);
}

/** The hash of the node above two nodes (RFC 6962, section 2.1). */
export function hashChildren(left: Buffer, right: Buffer): Buffer {
  children.set(left, 1);
  children.set(right, 1 + hashSize);
  return sha256(children);
}

/** The root of an empty tree: the hash of nothing. */
export function emptyRoot(): Buffer {
  return sha256(Buffer.alloc(0));
}

/** A text takes Node a quarter of the CPU time that a buffer of its own takes. */
export function sha256(bytes: Uint8Array | string): Buffer {
  return Buffer.from(hash('sha256', bytes, 'binary'), 'latin1');
}
