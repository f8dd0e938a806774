import { foldRight } from './frontier.ts';
import { hashChildren } from './hashing.ts';

/** A full subtree: the leaves from `index` × 2^`height`, 2^`height` of them. */
export interface Subtree {
  readonly height: number;
  readonly index: number;
}

/** Gives the hash of a full subtree. */
export type ReadNode = (subtree: Subtree) => Promise<Buffer>;

/** The proof that the leaf `index` is in the tree of this size (RFC 6962, section 2.1.1). */
export function proveInclusion(index: number, size: number, read: ReadNode): Promise<Buffer[]> {
  if (!(index >= 0 && index < size)) throw new Error(`a tree of size ${size} has no leaf ${index}`);
  return readAll(inclusionRanges(index, 0, size), read);
}

/** The proof that a tree extends a smaller one (RFC 6962, section 2.1.2). */
export function proveConsistency(smaller: number, size: number, read: ReadNode): Promise<Buffer[]> {
  if (!(smaller > 0 && smaller <= size)) throw new Error(`a tree of size ${size} extends none of size ${smaller}`);
  return readAll(consistencyRanges(smaller, 0, size), read);
}

/** The root that a proof of inclusion leads to; undefined if the proof has a wrong length. */
export function rootOfInclusion(
  { index, size }: { index: number; size: number },
  leafHash: Buffer,
  proof: readonly Buffer[],
): Buffer | undefined {
  const last = proof.at(-1);
  if (size === 1) return last === undefined && index === 0 ? leafHash : undefined;
  if (last === undefined || index >= size) return undefined;
  const half = halfOf(size);
  const inLeft = index < half;
  const side = inLeft ? { index, size: half } : { index: index - half, size: size - half };
  const below = rootOfInclusion(side, leafHash, proof.slice(0, -1));
  if (below === undefined) return undefined;
  return inLeft ? hashChildren(below, last) : hashChildren(last, below);
}

/** True if a proof shows that the tree with this root extends the smaller one. */
export function isConsistent(
  older: { size: number; root: Buffer },
  newer: { size: number; root: Buffer },
  proof: readonly Buffer[],
): boolean {
  if (older.size === newer.size) return proof.length === 0 && older.root.equals(newer.root);
  if (older.size === 0) return proof.length === 0;
  if (older.size > newer.size) return false;
  const roots = rootsOfConsistency(older, 0, newer.size, proof);
  return roots !== undefined && roots.older.equals(older.root) && roots.newer.equals(newer.root);
}

/** The roots of both trees, within the leaves from `from` until before `to`. */
function rootsOfConsistency(
  older: { size: number; root: Buffer },
  from: number,
  to: number,
  proof: readonly Buffer[],
): { older: Buffer; newer: Buffer } | undefined {
  const last = proof.at(-1);
  if (older.size === to) {
    const hash = from === 0 ? older.root : last;
    const fits = proof.length === (from === 0 ? 0 : 1);
    return fits && hash !== undefined ? { older: hash, newer: hash } : undefined;
  }
  if (last === undefined) return undefined;
  const middle = from + halfOf(to - from);
  const rest = proof.slice(0, -1);
  if (older.size <= middle) {
    const below = rootsOfConsistency(older, from, middle, rest);
    return below && { older: below.older, newer: hashChildren(below.newer, last) };
  }
  const below = rootsOfConsistency(older, middle, to, rest);
  return below && { older: hashChildren(last, below.older), newer: hashChildren(last, below.newer) };
}

/** Ranges of leaves from the leaf's sibling up, each as the full subtrees that cover it. */
function inclusionRanges(index: number, from: number, to: number): Subtree[][] {
  if (to - from === 1) return [];
  const middle = from + halfOf(to - from);
  return index < middle
    ? [...inclusionRanges(index, from, middle), subtreesOf(middle, to)]
    : [...inclusionRanges(index, middle, to), subtreesOf(from, middle)];
}

function consistencyRanges(smaller: number, from: number, to: number): Subtree[][] {
  if (smaller === to) return from === 0 ? [] : [subtreesOf(from, to)];
  const middle = from + halfOf(to - from);
  return smaller <= middle
    ? [...consistencyRanges(smaller, from, middle), subtreesOf(middle, to)]
    : [...consistencyRanges(smaller, middle, to), subtreesOf(from, middle)];
}

/** The largest power of two below `size`. */
function halfOf(size: number): number {
  let half = 1;
  while (half * 2 < size) half *= 2;
  return half;
}

/** The full subtrees that cover the leaves from `from` until before `to`, largest first. */
export function subtreesOf(from: number, to: number): Subtree[] {
  const subtrees: Subtree[] = [];
  for (let at = from; at < to;) {
    let width = 1;
    let height = 0;
    for (; at % (width * 2) === 0 && at + width * 2 <= to; height += 1) width *= 2;
    subtrees.push({ height, index: at / width });
    at += width;
  }
  return subtrees;
}

function readAll(ranges: readonly Subtree[][], read: ReadNode): Promise<Buffer[]> {
  return Promise.all(ranges.map(async (range) => foldRight(await Promise.all(range.map((subtree) => read(subtree))))));
}
