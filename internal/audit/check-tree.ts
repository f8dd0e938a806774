import type { TreeHead } from '../log/checkpoint.ts';
import { Frontier } from '../log/frontier.ts';
import { leafHashText } from '../log/hashing.ts';
import { isLeaf, readLeaf, splitLeaves } from '../log/leaf.ts';
import type { Finding } from './finding.ts';

/**
 * Compares the leaves of a log with its checkpoints, of which each must extend the one before.
 * Resolves with the number of leaves, and a finding for the first checkpoint that does not match.
 */
export async function checkTree(
  leaves: AsyncIterable<Buffer>,
  heads: readonly TreeHead[],
  onLeaves: (looked: number) => void = () => undefined,
): Promise<{ size: number; findings: Finding[] }> {
  const tree = new Frontier();
  const findings: Finding[] = [];
  const waiting = heads.toSorted((a, b) => a.size - b.size);
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
      tree.append(leafHashText(leaf));
      compare();
    }
    onLeaves(tree.size);
  }
  const last = waiting.at(-1);
  if (last !== undefined && findings.length === 0) {
    findings.push({ sentence: `The log has ${tree.size} leaves, and a checkpoint of ${last.size} leaves was signed.` });
  }
  return { size: tree.size, findings };
}

function leafFault(leaf: Buffer): string | undefined {
  try {
    readLeaf(leaf);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
