import { splitLeaves } from '../log/leaf.ts';

/** Longest wait of a leaf for its checkpoint, in ms: longer than a drain takes. */
const longestWaitMs = 3_600_000;

/** The time in the id of an event (UUIDv7), in ms since the Unix epoch: when it was accepted. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** The same of the id in a leaf. */
export function timeOfLeaf(leaf: Buffer): number {
  return leaf.readUIntBE(1, 6);
}

/** How many of these leaves, which lack a checkpoint, are older than the longest wait for one. */
export function countOverdue(leaves: Buffer): number {
  const latest = Date.now() - longestWaitMs;
  return splitLeaves(leaves).filter((leaf) => timeOfLeaf(leaf) < latest).length;
}
