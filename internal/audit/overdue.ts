import { splitLeaves, timeOfLeaf } from '../log/leaf.ts';

/** Longest wait of a leaf for its checkpoint, in ms: longer than a drain takes. */
const longestWaitMs = 3_600_000;

/** How many of these leaves, which lack a checkpoint, are older than the longest wait for one. */
export function countOverdue(leaves: Buffer): number {
  const latest = Date.now() - longestWaitMs;
  return splitLeaves(leaves).filter((leaf) => timeOfLeaf(leaf) < latest).length;
}
