import { splitHashes } from './frontier.ts';
import { hashChildren, hashOfText, leafHashText } from './hashing.ts';
import { leafSize, splitLeaves } from './leaf.ts';
import type { ReadNode, Subtree } from './proofs.ts';

/** The most hashes or leaves of a tile. */
export const tileWidth = 256;

/**
 * A tile (C2SP tlog-tiles). Tiles of the level `entries` hold leaves; those of a numbered level
 * hold the hashes of leaves (0), or of full tiles of the level below.
 */
export interface TileName {
  readonly level: number | 'entries';
  readonly index: number;
  /** How many it holds: fewer than {@link tileWidth} only at the end of a tree. */
  readonly width: number;
}

/** The path of a tile below the prefix of its log, such as `tile/0/x001/234.p/5`. */
export function tilePath({ level, index, width }: TileName): string {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) ?? [];
  const path = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/');
  return `tile/${level}/${path}${width === tileWidth ? '' : `.p/${width}`}`;
}

const path = /^tile\/(entries|0|[1-9]\d?)\/((?:x\d{3}\/)*\d{3})(?:\.p\/([1-9]\d{0,2}))?$/;

/** The tile of a path; undefined for any other text, including other spellings of a tile. */
export function readTilePath(text: string): TileName | undefined {
  const [, level, index, width] = path.exec(text) ?? [];
  if (level === undefined || index === undefined) return undefined;
  const name: TileName = {
    level: level === 'entries' ? level : Number(level),
    index: Number(index.replaceAll(/[x/]/g, '')),
    width: width === undefined ? tileWidth : Number(width),
  };
  return tilePath(name) === text && (name.level === 'entries' || name.level < 64) ? name : undefined;
}

/** How many hashes or leaves a tile holds in a tree of this size: 0 to {@link tileWidth}. */
export function widthIn(size: number, level: number | 'entries', index: number): number {
  const atLevel = Math.floor(size / tileWidth ** (level === 'entries' ? 0 : level));
  return Math.max(0, Math.min(tileWidth, atLevel - index * tileWidth));
}

/** The names of all tiles of a tree; tiles with leaves come first. */
export function tilesOf(size: number): TileName[] {
  const names: TileName[] = [];
  const levels: TileName['level'][] = ['entries'];
  for (let level = 0, left = size; left > 0; level += 1, left = Math.floor(left / tileWidth)) levels.push(level);
  for (const level of levels) {
    for (let index = 0, width = widthIn(size, level, 0); width > 0; width = widthIn(size, level, index)) {
      names.push({ level, index, width });
      index += 1;
    }
  }
  return names;
}

/** The bytes of an entry bundle: each leaf after its length, a big-endian uint16. */
export function entryBundle(leaves: Buffer): Buffer {
  const length = Buffer.from([0, leafSize]);
  return Buffer.concat(splitLeaves(leaves).flatMap((leaf) => [length, leaf]));
}

/** The leaves of an entry bundle, concatenated. @throws when it is not whole. */
export function leavesOfBundle(bundle: Buffer): Buffer {
  const entry = 2 + leafSize;
  if (bundle.length % entry !== 0) throw new Error('the entry bundle is not whole');
  const leaves = Array.from({ length: bundle.length / entry }, (_, at) => {
    if (bundle.readUInt16BE(at * entry) !== leafSize) throw new Error(`entry ${at} of the bundle is no leaf`);
    return bundle.subarray(at * entry + 2, (at + 1) * entry);
  });
  return Buffer.concat(leaves);
}

/**
 * The bytes that the leaves of a tile usually share at their start: the kind, and the part of the
 * time that changes every 49 days.
 */
const sharedSize = 3;

/** The bytes of the leaves of a full tile: plain, and packed by {@link packTile}. */
export const tileSizes = [tileWidth * leafSize, sharedSize + tileWidth * (leafSize - sharedSize)] as const;

/**
 * The leaves of a full tile as Postgres keeps them: with their common start only once, if they
 * share it. A tile then fits into six TOAST chunks, four to a page; a seventh would cost 5 bytes an
 * event.
 */
export function packTile(leaves: Buffer): Buffer {
  const [, size] = tileSizes;
  const packed = Buffer.allocUnsafe(size);
  leaves.copy(packed, 0, 0, sharedSize);
  for (let from = 0, to = sharedSize; from < leaves.length; from += leafSize) {
    for (let byte = 0; byte < sharedSize; byte += 1) if (leaves[from + byte] !== packed[byte]) return leaves;
    to += leaves.copy(packed, to, from + sharedSize, from + leafSize);
  }
  return packed;
}

/** The leaves of a tile as Postgres keeps it; other bytes unchanged. */
export function unpackTile(content: Uint8Array): Buffer {
  const [whole, packedSize] = tileSizes;
  const packed = Buffer.from(content.buffer, content.byteOffset, content.length);
  if (packed.length !== packedSize) return packed;
  const leaves = Buffer.allocUnsafe(whole);
  for (let to = 0, from = sharedSize; to < whole; from += leafSize - sharedSize) {
    for (let byte = 0; byte < sharedSize; byte += 1) leaves[to + byte] = packed[byte] ?? 0;
    packed.copy(leaves, to + sharedSize, from, from + leafSize - sharedSize);
    to += leafSize;
  }
  return leaves;
}

/** The hashes of leaves, as a level-0 tile holds them. */
export function hashLeaves(leaves: Buffer): Buffer {
  return hashOfText(
    splitLeaves(leaves)
      .map((leaf) => leafHashText(leaf))
      .join(''),
  );
}

/** Reads full subtrees from the hashes of tiles; `readTile` may give more than the tile's width. */
export function nodesOfTiles(readTile: (level: number, index: number) => Promise<Buffer>): ReadNode {
  return async ({ height, index }: Subtree) => {
    const level = Math.floor(height / 8);
    const width = 2 ** (height % 8);
    const first = index * width;
    const hashes = splitHashes(await readTile(level, Math.floor(first / tileWidth)));
    const own = hashes.slice(first % tileWidth, (first % tileWidth) + width);
    if (own.length < width) throw new Error(`a tile of level ${level} lacks hashes`);
    return fullSubtree(own);
  };
}

/** The hash of the full subtree above hashes, whose number is a power of two. */
function fullSubtree(hashes: readonly Buffer[]): Buffer {
  const [left, right] = hashes;
  if (left === undefined) throw new Error('a subtree has at least one hash');
  if (right === undefined) return left;
  const half = hashes.length / 2;
  return hashChildren(fullSubtree(hashes.slice(0, half)), fullSubtree(hashes.slice(half)));
}
