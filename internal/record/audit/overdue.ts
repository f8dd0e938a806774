import { splitLeaves, timeOfLeaf } from '../../ledger/leaf.ts';

/** How long after its acceptance an event usually has a checkpoint, in ms. */
const longestWaitMs = 3_600_000;

/** How many of these leaves without a checkpoint belong to events that should have one. */
export function countOverdue(leaves: Buffer): number {
  const latest = Date.now() - longestWaitMs;
  return splitLeaves(leaves).filter((leaf) => timeOfLeaf(leaf) < latest).length;
}
