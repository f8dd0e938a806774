import type { TreeHead } from '../../ledger/checkpoint.ts';
import { Frontier, type OnTileHash } from '../../ledger/frontier.ts';
import { hashOfText, leafHashText, type HashText } from '../../ledger/hashing.ts';
import { isErasure } from '../../ledger/erasure.ts';
import { isEvent, isLeaf, readLeaf, splitLeaves, timeOfLeaf } from '../../ledger/leaf.ts';
import type { Finding } from './finding.ts';

/** How much newer an earlier leaf may be: clocks differ, and jobs wait. In ms. */
export const toleranceMs = 3_600_000;

/** The same for an erasure, in ms: a clock that is wrong by less accuses nobody. */
const erasureToleranceMs = 24 * 3_600_000;

/** Most leaves without a checkpoint that are named. */
const mostNamed = 10;

/** A log that was read and compared with its checkpoints. */
export interface CheckedTree {
  size: number;
  overdue: number;
  /** The ids of some leaves that no checkpoint signs. */
  unsigned: string[];
  /** Leaves of events that came long after leaves of newer events. */
  late: number;
  /** When its oldest event was accepted, or erasure made, in ms since the Unix epoch. */
  oldest: number;
  /** The hashes of its full subtrees, as {@link Frontier} gives them. */
  frontier: Buffer;
  /** The hashes that the tiles above level 0 hold, level by level. */
  hashes: Buffer;
  findings: Finding[];
}

/**
 * Compares the leaves of a log with its checkpoints, each of which must extend the one before. A
 * finding names the first checkpoint that does not match.
 */
export async function checkTree(
  leaves: AsyncIterable<Buffer>,
  heads: readonly TreeHead[],
  onLeaves: (looked: number) => void = () => undefined,
): Promise<CheckedTree> {
  const tree = new Frontier();
  const findings: Finding[] = [];
  const backdated: Finding[] = [];
  // As texts: a small buffer would retain the 8 kB pool that Node cut it from.
  const above: HashText[][] = [];
  const waiting = heads.toSorted((a, b) => a.size - b.size);
  const signed = waiting.at(-1)?.size ?? 0;
  const unsigned: string[] = [];
  let [overdue, late, oldest, newest] = [0, 0, Infinity, 0];
  const keepHash: OnTileHash = (level, _, hash) => (above[level] ??= []).push(hash.toString('latin1'));
  const compare = (): void => {
    for (let head = waiting[0]; head?.size === tree.size; head = waiting[0]) {
      waiting.shift();
      if (tree.root().equals(head.root) || findings.length > 0) continue;
      findings.push({ sentence: `The first ${head.size} leaves of the log are not those that its checkpoint signed.` });
    }
  };
  compare();
  for await (const several of leaves) {
    for (const leaf of splitLeaves(several)) {
      const fault = isLeaf(leaf) ? undefined : leafFault(leaf);
      if (fault !== undefined && findings.length === 0) findings.push({ sentence: `Leaf ${tree.size}: ${fault}.` });
      const time = timeOfLeaf(leaf);
      oldest = Math.min(oldest, time);
      if (isEvent(leaf)) {
        newest = Math.max(newest, time);
        if (time < newest - toleranceMs) late += 1;
      } else if (isErasure(leaf) && time < newest - erasureToleranceMs) backdated.push(backdatedErasure(leaf));
      if (tree.size >= signed) {
        overdue += countOverdue(leaf);
        if (fault === undefined && unsigned.length < mostNamed) unsigned.push(readLeaf(leaf).id);
      }
      tree.append(leafHashText(leaf), keepHash);
      compare();
    }
    onLeaves(tree.size);
  }
  const last = waiting.at(-1);
  if (last !== undefined && findings.length === 0) {
    findings.push({ sentence: `The log has ${tree.size} leaves, and a checkpoint of ${last.size} leaves was signed.` });
  }
  const hashes = hashOfText(above.flat().join(''));
  return {
    size: tree.size,
    overdue,
    unsigned,
    late,
    oldest,
    frontier: tree.bytes,
    hashes,
    findings: [...findings, ...backdated],
  };
}

function leafFault(leaf: Buffer): string | undefined {
  try {
    readLeaf(leaf);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function backdatedErasure(leaf: Buffer): Finding {
  return { sentence: `Erasure ${readLeaf(leaf).id} was recorded later than it says: newer events are before it.` };
}

/** How long after its acceptance an event usually has a checkpoint, in ms. */
const longestWaitMs = 3_600_000;

/** How many of these leaves without a checkpoint belong to events that should have one. */
export function countOverdue(leaves: Buffer): number {
  const latest = Date.now() - longestWaitMs;
  return splitLeaves(leaves).filter((leaf) => timeOfLeaf(leaf) < latest).length;
}
